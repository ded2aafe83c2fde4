/** Counts the promises and the allocated memory of a run in our server. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { sized } from './form.ts'
import { WORK_FILE, type ProcessWork } from './process-work.ts'
import { formatNumber, printClaim, printTable } from './report.ts'
import { LoadClient } from './server-load.ts'
import { startServerProcess } from './server-process.ts'

import type { ServerProduct } from './server-products.ts'

/** Runs before those that count: code that V8 has not optimized yet allocates more. */
const WARM_UP = sized(4_000, 20)
const RUNS = sized(4_000, 20)
const WIDTH = 20
const TIMEOUT_MS = 120_000

const COUNTER = new URL('../fixtures/count-work.ts', import.meta.url)

/** Prints the work of a run: the difference between a process with more runs and one with fewer. */
export async function printServerWork(product: ServerProduct): Promise<void> {
  const before = await countWork(product, WARM_UP)
  const after = await countWork(product, WARM_UP + RUNS)
  const promises = (after.promises - before.promises) / RUNS
  const kilobytes = (after.allocatedBytes - before.allocatedBytes) / RUNS / 1_000
  printTable({
    title: 'Work of one run in the server',
    columns: ['runs', 'promises', 'allocated, KB'],
    rows: [[formatNumber(RUNS), formatNumber(promises), formatNumber(kilobytes)]],
  })
  printClaim({ text: 'at most 100 promises per run', atMost: 100, measured: promises })
  printClaim({
    text: 'at most 150 KB allocated per run',
    atMost: 150,
    measured: kilobytes,
    unit: ' KB',
  })
}

/** Returns the work of a server that executes runs, {@link WIDTH} at a time, and exits. */
async function countWork(product: ServerProduct, runs: number): Promise<ProcessWork> {
  const directory = mkdtempSync(join(tmpdir(), 'tutti-bench-work-'))
  const file = join(directory, 'work.json')
  try {
    await makeRuns(product, { file, runs })
    // NOTE: the server has written it.
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessWork
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function makeRuns(
  product: ServerProduct,
  { file, runs }: { readonly file: string; readonly runs: number },
): Promise<void> {
  const env = { [WORK_FILE]: file, NODE_OPTIONS: `--import=${COUNTER.href}` }
  await using server = await startServerProcess((location) => {
    const command = product.command(location)
    return { ...command, env: { ...command.env, ...env } }
  }, product.readyPath)
  await using client = new LoadClient(product, server.url)
  await client.makeRuns(WIDTH, { runs, forMs: TIMEOUT_MS })
}
