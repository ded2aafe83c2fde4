/**
 * The built server and those of its peers: the same agent run, one typed tool call, over loopback HTTP; a number of
 * runs at a time, and runs that arrive independently of each other.
 *
 * How it is fair:
 * - The same client calls all of them over persistent connections, and follows the run over the stream of each
 *   product. Ours is measured in two forms: a submit whose response is the stream, as the peers have it, and a submit
 *   and a request for the stream.
 * - The least of a durable server shows the limit: it stores and streams the events of our run, with the same synced
 *   commits, and does nothing else.
 * - Peers have two forms, named by what they promise after a crash: nothing, or what was stored.
 * - The same tool of five fields, and the same scripted model without delay that streams its answer in the same
 *   three pieces. Every run is checked: the tool was called, and the answer repeats its output.
 * - The first event of a peer is its first output; ours is the event that the engine has begun.
 * - A run has ended when its result has arrived, even if the stream ends later.
 * - Each server starts again for each round, in turns, alone on the machine, and works for some seconds before
 *   measurements count. Results are medians of the rounds.
 * - Limits of concurrent runs are raised to 50 where they exist. Tracing and telemetry are off.
 */
import { median, quantile } from './lib/measure.ts'
import { measureFanOut } from './lib/server-fan-out.ts'
import { LoadClient, type Arrivals, type LoadBounds } from './lib/server-load.ts'
import { measureGateways } from './lib/server-gateways.ts'
import { hasPeers, isQuick, sized } from './lib/form.ts'
import { printDisk } from './lib/runs-disk.ts'
import { printServerMemory } from './lib/server-memory.ts'
import { startServerProcess } from './lib/server-process.ts'
import {
  durableSketch,
  peerServers,
  TUTTI,
  TUTTI_NORMAL,
  TUTTI_TWO_REQUESTS,
  type RecordedResponse,
  type ServerProduct,
} from './lib/server-products.ts'
import { printServerWork } from './lib/server-work.ts'
import { PER_SECOND, printServers, WIDTHS, type ServerMeasurements } from './lib/server-table.ts'

const ROUNDS = sized(3, 1, 1)

const SHORT_LOAD: LoadBounds = { runs: 50, forMs: 500 }
const WARM_UP = sized<LoadBounds>({ runs: 4_000, forMs: 2_000 }, SHORT_LOAD)
const LOAD = sized<LoadBounds>({ runs: 8_000, forMs: 1_500 }, SHORT_LOAD)
const ARRIVALS: Arrivals = { perSecond: PER_SECOND, forMs: sized(8_000, 500) }
const TOOL_CALLS = sized<LoadBounds>({ runs: 200, forMs: 500 }, SHORT_LOAD)

// Exiting this process ends the servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const peers = hasPeers() ? [TUTTI_NORMAL, ...(await peerServers())] : []
const products = [TUTTI, durableSketch(await recordRun()), TUTTI_TWO_REQUESTS, ...peers]
const rounds = new Map<ServerProduct, ServerMeasurements[]>(
  products.map((product) => [product, []]),
)
for (let round = 0; round < ROUNDS; round += 1) {
  for (const product of products) rounds.get(product)?.push(await measure(product))
}
printServers(products.map((product) => ({ product, measurements: rounds.get(product) ?? [] })))
if (!isQuick()) {
  printDisk()
  await printServerMemory(TUTTI)
  await printServerWork(TUTTI)
  await measureFanOut()
}
await measureGateways()

async function measure(product: ServerProduct): Promise<ServerMeasurements> {
  await using server = await startServerProcess(product.command, product.readyPath)
  await using client = new LoadClient(product, server.url)
  await client.makeRuns(20, WARM_UP)
  const measurements = []
  const cpuMs = []
  for (const width of WIDTHS) {
    const before = server.cpuMs()
    const load = await client.makeRuns(width, LOAD)
    cpuMs.push((server.cpuMs() - before) / load.resultMs.length)
    measurements.push(load)
  }
  const { resultMs, probeMs } = await client.makeArrivals(ARRIVALS)
  const toolCalls = await client.callTool(TOOL_CALLS)
  const [alone] = measurements
  return {
    readyMs: server.readyMs,
    firstMs: median(alone?.firstMs ?? []),
    resultMs: median(alone?.resultMs ?? []),
    perSecond: measurements.map(({ perSecond }) => perSecond),
    cpuMs,
    arrivalMs: [median(resultMs), quantile(resultMs, 0.99)],
    probeMs: quantile(probeMs, 0.99),
    toolMs: typeof toolCalls === 'object' ? median(toolCalls) : toolCalls,
    memoryMiB: server.memoryMiB(),
  }
}

/** Returns the response of our server to one run. */
async function recordRun(): Promise<RecordedResponse> {
  await using server = await startServerProcess(TUTTI.command, TUTTI.readyPath)
  await using client = new LoadClient(TUTTI, server.url)
  return await client.recordRun()
}
