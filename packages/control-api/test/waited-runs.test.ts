/** The response of a submission that waits for its run equals a later read of the run. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it, vi } from 'vitest'

import { openServer, type TestServer } from './open-server.ts'

import type { RunDetail } from '@tutti/protocol'
import type { ReviewList } from '@tutti/protocol/internal'

const count = defineTool({
  name: 'count',
  description: 'Counts',
  input: Type.Object({ n: Type.Integer() }),
  execute: async ({ n }) => String(n),
})

const model = scriptedModel(
  ({ messages, tools }) =>
    tools.length === 0 || messages.at(-1)?.role === 'tool'
      ? 'It was counted'
      : { text: 'Counting', toolCalls: [{ name: 'count', arguments: { n: 4 } }] },
  { provider: 'scripted' },
)
const broken = scriptedModel(() => {
  throw new Error('The provider is away')
})
const RUN_ID = 'waited'
const started = Promise.withResolvers<void>()
const endless = task({
  name: 'endless',
  description: 'Ends when it is cancelled',
  handler: ({ signal }) => {
    started.resolve()
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  },
})

function one(name: string, changes: Partial<Parameters<typeof ensemble>[0]> = {}): Ensemble {
  const counting = task({ name: 'count', description: 'Count {what}', tools: [count] })
  return ensemble({ name, model, tasks: [counting], ...changes })
}

const plain = (name: string, output = 'ok') =>
  task({ name, description: `Do ${name}`, handler: () => output })
let failures = 0
const flaky = task({
  name: 'flaky',
  description: 'Fails once',
  retries: 1,
  handler: () => {
    failures += 1
    if (failures === 1) throw new Error('Try again')
    return 'ok'
  },
})
const failing = task({
  name: 'failing',
  description: 'Fails',
  handler: () => {
    throw new Error('It failed')
  },
})

const reviewed = task({
  name: 'reviewed',
  description: 'Waits for a review',
  review: true,
  handler: () => 'good',
})

const ENSEMBLES = [
  one('completed'),
  one('failed', { model: broken }),
  one('cancelled', { tasks: [plain('before'), endless, plain('after')] }),
  one('reviewed', { tasks: [reviewed, plain('after')] }),
  one('stopped', { tasks: [reviewed, plain('after')] }),
  one('retried', { tasks: [flaky, plain('after')] }),
  one('partly failed', {
    workflow: 'PARALLEL',
    tasks: [failing, plain('other')],
    errorStrategy: 'CONTINUE_ON_ERROR',
  }),
  one('large', { tasks: [plain('large', 'word '.repeat(60_000))] }),
  one('odd', { tasks: [plain('odd', 'nul \u0000 lone \ud800 é 🎻')] }),
  one('many', { tasks: Array.from({ length: 12 }, (_, index) => plain(`t${index}`)) }),
]

/** Actions on a run while its submission waits, by ensemble. */
const intervene: Record<string, (server: TestServer) => Promise<void>> = {
  async cancelled(server) {
    await started.promise
    expect((await server.post(`/api/runs/${RUN_ID}/cancel`, {})).ok).toBe(true)
  },
  async reviewed(server) {
    await decide(server, { decision: 'EDIT', revisedOutput: 'better' })
  },
  async stopped(server) {
    await decide(server, { decision: 'EXIT_EARLY' })
  },
}

async function decide(server: TestServer, decision: object): Promise<void> {
  const reviewId = await vi.waitFor(async () => {
    const { reviews } = (await (await server.get('/api/reviews')).json()) as ReviewList
    if (reviews[0] === undefined) throw new Error('The review is not open')
    return reviews[0].reviewId
  }, 30_000)
  expect((await server.post(`/api/reviews/${reviewId}`, decision)).status).toBe(200)
}

async function waitAndRead(name: string): Promise<readonly [RunDetail, RunDetail]> {
  await using server = await openServer({ ensembles: ENSEMBLES })
  const body = { ensemble: name, runId: RUN_ID, inputs: { what: 'bars' }, tags: { a: 'b' } }
  const waiting = server.post('/api/runs?wait=60', body)
  await intervene[name]?.(server)
  const response = await waiting
  expect(response.status).toBe(200)
  const waited = (await response.json()) as RunDetail
  return [waited, await server.detail(waited.runId)]
}

describe('POST /api/runs?wait', () => {
  it.each([
    ['completed', 'COMPLETED'],
    ['failed', 'FAILED'],
    ['cancelled', 'CANCELLED'],
    ['retried', 'COMPLETED'],
    ['partly failed', 'FAILED'],
    ['reviewed', 'COMPLETED'],
    ['stopped', 'COMPLETED'],
    ['large', 'COMPLETED'],
    ['odd', 'COMPLETED'],
    ['many', 'COMPLETED'],
  ])(
    '[RUNS-C8] The response for a run that is %s equals a later read of the run',
    async (name, status) => {
      const [waited, read] = await waitAndRead(name)
      expect(waited).toEqual(read)
      expect(waited.status).toBe(status)
    },
  )

  it('A repeated submission that waits gets the run as it was stored', async () => {
    await using server = await openServer({ ensembles: ENSEMBLES })
    const post = async (): Promise<unknown> => {
      const headers = { 'idempotency-key': 'one' }
      const body = { ensemble: 'completed', inputs: { what: 'bars' } }
      const response = await server.post('/api/runs?wait=60', body, headers)
      expect(response.status).toBe(200)
      return response.json()
    }
    expect(await post()).toEqual(await post())
  })
})
