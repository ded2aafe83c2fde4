/**
 * Compares the streams of the gateways with our own event stream, for the same run of the same server: the processor
 * time of the server per run, for 20 concurrent clients. Unlike the time of a run, it does not depend on other work of
 * the machine. The streams take turns, so that the growth of the database concerns all of them.
 */
import { randomUUID } from 'node:crypto'

import { ROUTES } from '@tutti/protocol'

import { ANSWER, PROMPT } from './story.ts'
import { sized } from './form.ts'
import { median } from './measure.ts'
import { formatNumber, printClaim, printTable } from './report.ts'
import { LoadClient, type LoadBounds } from './server-load.ts'
import { TUTTI, type ServerProduct } from './server-products.ts'
import { startServerProcess, type ServerProcess } from './server-process.ts'

const ROUNDS = sized(15, 1)
const WIDTH = 20
const WARM_UP = sized<LoadBounds>({ runs: 500, forMs: 3_000 }, { runs: 40, forMs: 500 })
const LOAD = sized<LoadBounds>({ runs: 300, forMs: 3_000 }, { runs: 40, forMs: 500 })

/** Maximum processor time of a run over a gateway, relative to our own stream. */
const MAX_RATIO = 1.1

/** Our own stream of the run that the gateways begin: its conversation is the question. */
const OWN: ServerProduct = {
  ...TUTTI,
  name: 'events of the run',
  submit: () => ({
    ...ROUTES.submitRun,
    body: { history: [{ role: 'user', content: PROMPT }] },
    accept: 'text/event-stream',
  }),
}

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
  {
    ...TUTTI,
    name: 'OpenAI Responses',
    submit: () => ({
      method: 'POST',
      path: '/v1/responses',
      body: { model: 'shop', input: PROMPT, stream: true },
    }),
    first: '"type":"response.in_progress"',
    result: '"type":"response.completed"',
    proof: ['"type":"response.output_text.delta"', `"text":"${ANSWER}"`],
  },
  {
    ...TUTTI,
    name: 'OpenAI chat completions',
    submit: () => ({
      method: 'POST',
      path: '/v1/chat/completions',
      body: { model: 'shop', messages: [{ role: 'user', content: PROMPT }], stream: true },
    }),
    first: '"role":"assistant"',
    result: 'data: [DONE]',
    proof: ['"delta":{"content":', '"finish_reason":"stop"'],
  },
]

/** Prints the processor time of a run over each gateway, and its ratio to our own stream. */
export async function measureGateways(): Promise<void> {
  await using server = await startServerProcess(TUTTI.command, TUTTI.readyPath)
  const products = [OWN, ...GATEWAYS]
  const times = new Map<ServerProduct, number[]>(products.map((product) => [product, []]))
  for (const product of products) await measureRun(product, server, WARM_UP)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const product of products) {
      times.get(product)?.push(await measureRun(product, server, LOAD))
    }
  }
  const runMs = (product: ServerProduct): number => median(times.get(product) ?? [])
  const ratio = (product: ServerProduct): number => runMs(product) / runMs(OWN)
  printTable({
    title: `The same run over each stream, ${WIDTH} at a time`,
    columns: ['stream', 'processor time of the server per run, ms', 'to our own'],
    rows: products.map((product) => [
      product.name,
      formatNumber(runMs(product)),
      formatNumber(ratio(product)),
    ]),
  })
  for (const gateway of GATEWAYS) {
    printClaim({
      text: `A run over ${gateway.name} costs at most 10 % more than over our own stream`,
      measured: ratio(gateway),
      atMost: MAX_RATIO,
    })
  }
}

/** Returns the processor time of the server per run, in milliseconds. */
async function measureRun(
  product: ServerProduct,
  server: ServerProcess,
  load: LoadBounds,
): Promise<number> {
  await using client = new LoadClient(product, server.url)
  const before = server.cpuMs()
  const { resultMs } = await client.makeRuns(WIDTH, load)
  return (server.cpuMs() - before) / resultMs.length
}
