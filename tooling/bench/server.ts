/**
 * The built server beside those of its peers: the same agent run, one typed tool call, over loopback HTTP.
 *
 * How it is fair:
 * - The same client asks all of them, over connections that stay open, and follows the run over the
 *   stream that each product has for it. Ours needs two requests for that, the others one.
 * - The same tool of five fields, the same scripted model without delay that streams its answer in the
 *   same three pieces. Every run is checked: the tool was called, the answer repeats what it gave.
 * - The first event of a peer is whatever comes first; of ours, that the engine has begun.
 * - A run is over when its result has arrived, also when the stream ends later.
 * - Each server starts afresh for each round, in turns, alone on the machine, works for some seconds
 *   before anything counts, and stores what it stores by itself. Figures are medians of the rounds.
 * - Limits on runs at once are raised to 50 where there are any. No tracing, no telemetry.
 */
import { median } from './lib/measure.ts'
import { measureFanOut } from './lib/server-fan-out.ts'
import { LoadClient, type LoadBounds } from './lib/server-load.ts'
import { isShort, sized } from './lib/short.ts'
import { startServerProcess } from './lib/server-process.ts'
import { peerServers, TUTTI, TUTTI_NORMAL, type ServerProduct } from './lib/server-products.ts'
import { printServers, type ServerFigures } from './lib/server-table.ts'

const ROUNDS = sized(3, 1)
const WIDTHS = [1, 20, 50] as const

const SHORT_LOAD: LoadBounds = { runs: 50, forMs: 500 }
const WARM_UP = sized<LoadBounds>({ runs: 2_000, forMs: 3_000 }, SHORT_LOAD)
const LOAD = sized<LoadBounds>({ runs: 4_000, forMs: 3_000 }, SHORT_LOAD)
const TOOL_CALLS = sized<LoadBounds>({ runs: 500, forMs: 2_000 }, SHORT_LOAD)

// Ends through the exit of this process, which ends the servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const products = [TUTTI, TUTTI_NORMAL, ...(isShort() ? [] : peerServers())]
const rounds = new Map<ServerProduct, ServerFigures[]>(products.map((product) => [product, []]))
for (let round = 0; round < ROUNDS; round += 1) {
  for (const product of products) rounds.get(product)?.push(await measure(product))
}
printServers(
  products.map((product) => ({ product, figures: rounds.get(product) ?? [] })),
  WIDTHS,
)
await measureFanOut()

async function measure(product: ServerProduct): Promise<ServerFigures> {
  await using server = await startServerProcess(product.command, product.readyPath)
  await using client = new LoadClient(product, server.url)
  await client.makeRuns(20, WARM_UP)
  const figures = []
  for (const width of WIDTHS) figures.push(await client.makeRuns(width, LOAD))
  const toolCalls = await client.callTool(TOOL_CALLS)
  const [alone] = figures
  return {
    readyMs: server.readyMs,
    firstMs: median(alone?.firstMs ?? []),
    resultMs: median(alone?.resultMs ?? []),
    perSecond: figures.map(({ perSecond }) => perSecond),
    toolMs: typeof toolCalls === 'object' ? median(toolCalls) : toolCalls,
    memoryMiB: server.memoryMiB(),
  }
}
