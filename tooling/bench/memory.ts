/**
 * Measures the memory that finished runs leave: 20 000 runs of one ensemble in a process with a small heap,
 * and the heap before and after, each after a garbage collection. If a run left 4 KiB or more, the process
 * would run out of memory, which is reported as a claim that does not hold.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { formatNumber, printClaim, printTable } from './lib/report.ts'
import { isShort, sized } from './lib/form.ts'

const RUNS = sized(20_000, 200)
const MAX_HEAP_MIB = 64
const TIMEOUT_MS = 120_000

/** Variation by the collector and the compiler over so many runs; measured within 5 bytes of 0. */
const NOISE_BYTES_PER_RUN = 16

const program = fileURLToPath(new URL('./lib/finished-runs.ts', import.meta.url))
const flags = ['--expose-gc', `--max-old-space-size=${MAX_HEAP_MIB}`]
const { status, signal, stdout, stderr } = spawnSync(
  process.execPath,
  [...flags, program, String(RUNS)],
  { encoding: 'utf8', timeout: TIMEOUT_MS },
)
if (status !== 0) {
  if (isShort()) throw new Error(`The process ended with ${status ?? signal}: ${stderr}`)
  console.log(`The process ended with ${status ?? signal}: ${stderr.trim().slice(0, 2_000)}`)
}
printTable({
  title: 'Memory of ended runs in a process',
  columns: ['runs', 'heap left by a run, bytes'],
  rows: [[formatNumber(RUNS), status === 0 ? formatNumber(Number(stdout)) : '–']],
})
printClaim({
  text: `a finished run keeps no memory (at most ${NOISE_BYTES_PER_RUN} bytes over ${RUNS} runs)`,
  atMost: NOISE_BYTES_PER_RUN,
  measured: status === 0 ? Number(stdout) : Number.NaN,
  unit: ' bytes',
})
