/**
 * Runs the named benchmarks, or all, each in its own process. Each prints tables and claims; none asserts a time. It
 * fails when a benchmark cannot run.
 *
 * `--peers` also measures the peers, and installs them at first use. `--quick` measures one round. `--short` only shows
 * that each benchmark runs. `--record` writes the results, with peers, to `docs/performance.json`, from which
 * `npm run gen` makes the performance page.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { chooseForm, choosePeers } from './lib/form.ts'
import { recordResults, type AreaResults } from './lib/results.ts'
import { REPORT_FILE } from './lib/report.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'bench.ts')
  .map((file) => file.slice(0, -'.ts'.length))
const unknown = positionals.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown benchmark "${unknown.join('", "')}". Known: ${known.join(', ')}`)
  process.exit(2)
}
const isFull = !values.short && !values.quick
if (values.record && !isFull) {
  console.error('Only results of the full form can be recorded')
  process.exit(2)
}
if (values.quick) chooseForm('quick')
if (values.short) chooseForm('short')
if (values.peers || values.record) choosePeers()

const folder = mkdtempSync(join(tmpdir(), 'tutti-bench-'))
const results: AreaResults[] = []
const failed: string[] = []
for (const area of known) {
  if (positionals.length > 0 && !positionals.includes(area)) continue
  console.log(`# ${area}`)
  const report = join(folder, `${area}.json`)
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${area}.ts`)], {
    stdio: 'inherit',
    env: { ...process.env, [REPORT_FILE]: report },
  })
  if (status !== 0 || !existsSync(report)) failed.push(area)
  else results.push({ area, ...JSON.parse(readFileSync(report, 'utf8')) })
}
rmSync(folder, { recursive: true })
if (isFull) {
  const claims = results.flatMap(({ claims }) => claims)
  const met = claims.filter(({ isMet }) => isMet)
  console.log(`Claims: ${met.length} of ${claims.length} met`)
}
if (values.record) recordResults(results)
if (failed.length > 0) {
  console.error(`Could not run: ${failed.join(', ')}`)
  process.exitCode = 1
}
