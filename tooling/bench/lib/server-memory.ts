/** Shows whether the memory of our server grows with the number of its runs. */
import { sized } from './form.ts'
import { formatNumber, printClaim, printTable } from './report.ts'
import { LoadClient } from './server-load.ts'
import { startServerProcess } from './server-process.ts'

import type { ServerProduct } from './server-products.ts'

const RUNS = sized(20_000, 100)

/** Number of equal parts of the load; memory is measured after each. */
const PARTS = 4
const WIDTH = 20
const TIMEOUT_MS = 120_000

/** Growth from the first part to the last that the garbage collector explains. */
const MAX_GROWTH = 1.15

/** Prints the resident memory during {@link RUNS} runs. */
export async function printServerMemory(product: ServerProduct): Promise<void> {
  await using server = await startServerProcess(product.command, product.readyPath)
  await using client = new LoadClient(product, server.url)
  const runs = RUNS / PARTS
  const resident: number[] = []
  for (let part = 0; part < PARTS; part += 1) {
    await client.makeRuns(WIDTH, { runs, forMs: TIMEOUT_MS })
    resident.push(server.memoryMiB())
  }
  printTable({
    title: 'Memory of the server over many runs',
    columns: ['runs', 'resident, MiB'],
    rows: resident.map((mib, part) => [formatNumber((part + 1) * runs), formatNumber(mib)]),
  })
  printClaim({
    text: `memory is flat over ${formatNumber(RUNS)} runs: from the first quarter to the last`,
    atMost: MAX_GROWTH,
    measured: (resident.at(-1) ?? Number.NaN) / (resident[0] ?? Number.NaN),
    unit: ' times',
  })
}
