/**
 * Compares the streams of the gateways with our own event stream, for the same run of the same server: the time of a
 * run for 20 concurrent clients. The streams take turns, so that a slow moment of the machine concerns all of them.
 */
import { randomUUID } from 'node:crypto'

import { ANSWER, PROMPT } from '../peers/servers/story.js'
import { sized } from './form.ts'
import { median } from './measure.ts'
import { formatNumber, printClaim, printTable } from './report.ts'
import { LoadClient, type LoadBounds } from './server-load.ts'
import { TUTTI, type ServerProduct } from './server-products.ts'
import { startServerProcess } from './server-process.ts'

const ROUNDS = sized(7, 3, 1)
const WIDTH = 20
const WARM_UP = sized<LoadBounds>({ runs: 2_000, forMs: 1_500 }, { runs: 40, forMs: 500 })
const LOAD = sized<LoadBounds>({ runs: 2_000, forMs: 700 }, { runs: 40, forMs: 500 })

/** Maximum time of a run over a gateway, relative to our own stream. */
const MAX_RATIO = 1.1

/** Our server with the requests and the stream of a gateway. */
const GATEWAYS: readonly ServerProduct[] = [
  {
    ...TUTTI,
    name: 'AG-UI',
    submit: () => ({
      method: 'POST',
      path: '/agui/shop',
      body: {
        threadId: 'bench',
        runId: randomUUID(),
        messages: [{ id: 'question', role: 'user', content: PROMPT }],
      },
    }),
    first: '"STEP_STARTED"',
    result: '"RUN_FINISHED"',
    proof: ['"TOOL_CALL_RESULT"', `"result":"${ANSWER}"`],
  },
  {
    ...TUTTI,
    name: 'AI SDK',
    submit: () => ({
      method: 'POST',
      path: '/api/chat',
      body: {
        id: randomUUID(),
        model: 'shop',
        messages: [{ id: 'question', role: 'user', parts: [{ type: 'text', text: PROMPT }] }],
      },
    }),
    first: '"type":"start"',
    result: '"type":"finish"',
    proof: ['"type":"tool-output-available"', '"type":"text-delta"'],
  },
]

/** Prints the time of a run over each gateway, and its ratio to our own stream. */
export async function measureGateways(): Promise<void> {
  await using server = await startServerProcess(TUTTI.command, TUTTI.readyPath)
  const products = [TUTTI, ...GATEWAYS]
  const times = new Map<ServerProduct, number[]>(products.map((product) => [product, []]))
  for (const product of products) await measureRun(product, server.url, WARM_UP)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const product of products) {
      times.get(product)?.push(await measureRun(product, server.url, LOAD))
    }
  }
  const runMs = (product: ServerProduct): number => median(times.get(product) ?? [])
  const ratio = (product: ServerProduct): number => runMs(product) / runMs(TUTTI)
  printTable({
    title: `The same run over each stream, ${WIDTH} at a time`,
    columns: ['stream', 'ms of the server per run', 'to our own'],
    rows: products.map((product) => [
      product === TUTTI ? 'events of the run' : product.name,
      formatNumber(runMs(product)),
      formatNumber(ratio(product)),
    ]),
  })
  for (const gateway of GATEWAYS) {
    printClaim({
      text: `A run over ${gateway.name} takes at most 10 % longer than over our own stream`,
      measured: ratio(gateway),
      atMost: MAX_RATIO,
    })
  }
}

/** Returns the milliseconds per run. */
async function measureRun(product: ServerProduct, url: string, load: LoadBounds): Promise<number> {
  await using client = new LoadClient(product, url)
  const { perSecond } = await client.makeRuns(WIDTH, load)
  return 1_000 / perSecond
}
