/** Runs the benchmarks that are named, or all. Each prints its figures; none asserts a time. */
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { positionals } = parseArgs({ allowPositionals: true })
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'bench.ts')
  .map((file) => file.slice(0, -'.ts'.length))
const unknown = positionals.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown benchmark "${unknown.join('", "')}". Known: ${known.join(', ')}`)
  process.exit(2)
}
for (const name of known) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  console.log(`# ${name}`)
  await import(`./${name}.ts`)
}
