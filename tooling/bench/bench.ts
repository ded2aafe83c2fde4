/**
 * Runs the named benchmarks, or all. Each prints its results; none asserts a time. With `--short` each runs
 * once, small and without peers, to show that it still runs.
 */
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'

import { chooseShortForm } from './lib/short.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false } },
})
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'bench.ts')
  .map((file) => file.slice(0, -'.ts'.length))
const unknown = positionals.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown benchmark "${unknown.join('", "')}". Known: ${known.join(', ')}`)
  process.exit(2)
}

if (values.short) chooseShortForm()
for (const name of known) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  console.log(`# ${name}`)
  await import(`./${name}.ts`)
}
