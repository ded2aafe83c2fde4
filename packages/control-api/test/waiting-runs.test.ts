/** Runs whose tools ask a person during the run. */
import { serveControlApi } from '@tutti/control-api'
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService, type RunServiceOptions } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { STORES } from './long-run-server.ts'

import type { PendingReview, RunDetail } from '@tutti/protocol'
import type { ReviewList } from '@tutti/protocol/internal'

const MAX_RUNS = 5

describe.each(['embedded', 'postgres'] as const)('runs that wait in a tool (%s)', (store) => {
  it.each([
    ['that must not be repeated', { idempotent: false, expectedParked: 0 }],
    ['that can be repeated', { idempotent: true, expectedParked: MAX_RUNS + 1 }],
  ])(
    'Runs that wait in a tool free their slots for other runs, and complete once when they are answered, in a call %s',
    async (_, { idempotent, expectedParked }) => {
      await using api = await questions(store, { idempotent })
      const waiting = await Promise.all(
        Array.from({ length: MAX_RUNS + 1 }, () => api.submit('asking')),
      )
      await expect.poll(() => api.reviews(), POLL).toHaveLength(waiting.length)
      await expect
        .poll(async () => (await api.runs.status.load()).parked, POLL)
        .toBe(expectedParked)
      await expect.poll(async () => (await api.runs.status.load()).running, POLL).toBe(0)
      expect((await api.detail(waiting[0] ?? '')).status).toBe('WAITING_REVIEW')

      const other = await api.submit('other')
      await expect.poll(async () => (await api.detail(other)).status, POLL).toBe('COMPLETED')

      for (const { reviewId } of await api.reviews()) {
        const body = { decision: 'EDIT', revisedOutput: JSON.stringify({ room: 7 }) }
        expect(await api.decide(reviewId, body)).toBe(200)
      }
      for (const runId of waiting) {
        await expect.poll(async () => (await api.detail(runId)).status, POLL).toBe('COMPLETED')
        expect((await api.detail(runId)).tasks[0]?.output).toBe('Booked room 7')
      }
      expect(api.booked).toHaveLength(waiting.length)
      expect(api.asked.length).toBe(idempotent ? 2 * waiting.length : waiting.length)
      expect(api.modelCalls()).toBe(2 * waiting.length)
    },
  )

  it('Runs that wait in a tool accept a valid answer to a parked question, and refuse an invalid one', async () => {
    await using api = await questions(store, { idempotent: true })
    const runId = await api.submit('asking')
    await expect.poll(async () => (await api.runs.status.load()).parked, POLL).toBe(1)
    const [review] = await api.reviews()
    const decide = (answer: unknown): Promise<number> =>
      api.decide(review?.reviewId ?? '', {
        decision: 'EDIT',
        revisedOutput: JSON.stringify(answer),
      })
    expect(await decide({ room: 'none' })).toBe(400)
    expect((await api.detail(runId)).status).toBe('WAITING_REVIEW')
    expect(await decide({ room: 3 })).toBe(200)
    await expect.poll(async () => (await api.detail(runId)).status, POLL).toBe('COMPLETED')
    expect(api.booked).toEqual([3])
  })

  it('Runs that wait in a tool are shown as WAITING_REVIEW before they are parked', async () => {
    await using api = await questions(store, { idempotent: true }, { parkAfterMs: 3_600_000 })
    const runId = await api.submit('asking')
    await expect.poll(async () => (await api.detail(runId)).status, POLL).toBe('WAITING_REVIEW')
    expect(await api.runs.status.load()).toEqual({ running: 0, queued: 0, waiting: 1, parked: 0 })
  })
})

const POLL = { timeout: 20_000 }

/** Serves an ensemble whose tool asks for a room and then books it, and one without questions. */
async function questions(
  store: keyof typeof STORES,
  { idempotent }: { readonly idempotent: boolean },
  limits: RunServiceOptions = {},
) {
  const { storage, remove } = await STORES[store]()
  const asked: string[] = []
  const booked: number[] = []
  const book = defineTool({
    name: 'book',
    description: 'Books a room',
    input: Type.Object({}),
    idempotent,
    async execute(_input, { requestAnswer, runId = '' }) {
      asked.push(runId)
      const schema = Type.Object({ room: Type.Integer() })
      const answer = await requestAnswer('Which room?', { schema, timeoutMs: 3_600_000 })
      if (!answer.answered) return 'Nobody answered'
      booked.push(answer.value.room)
      return `Booked room ${answer.value.room}`
    },
  })
  let modelCalls = 0
  const agent = scriptedModel(({ messages }) => {
    modelCalls += 1
    const last = messages.at(-1)
    if (last?.role === 'tool') return last.content
    return { toolCalls: [{ name: 'book', arguments: {} }] }
  })
  const asking = ensemble({
    name: 'asking',
    model: agent,
    tasks: [task({ name: 'book', description: 'Book a room', tools: [book] })],
  })
  const other = ensemble({
    name: 'other',
    model: scriptedModel(() => 'Done'),
    tasks: [task({ name: 'do', description: 'Do it' })],
  })
  const runs = createRunService(storage, [asking, other], {
    maxConcurrentRuns: MAX_RUNS,
    parkAfterMs: 30,
    pollMs: 50,
    ...limits,
  })
  const api = await serveControlApi(
    { runs, models: modelCatalog({}), tools: toolCatalog([]) },
    { port: 0 },
  )
  await runs.start()
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(`${api.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    runs,
    asked,
    booked,
    modelCalls: () => modelCalls,
    async submit(name: string): Promise<string> {
      const { runId }: { runId: string } = await (
        await post('/api/runs', { ensemble: name, inputs: {} })
      ).json()
      return runId
    },
    async reviews(): Promise<readonly PendingReview[]> {
      const list: ReviewList = await (await fetch(`${api.url}/api/reviews`)).json()
      return list.reviews
    },
    async decide(reviewId: string, body: unknown): Promise<number> {
      return (await post(`/api/reviews/${reviewId}`, body)).status
    },
    async detail(runId: string): Promise<RunDetail> {
      return (await fetch(`${api.url}/api/runs/${runId}`)).json()
    },
    async [Symbol.asyncDispose]() {
      await runs.close({ drainTimeoutMs: 1_000 })
      await api.close()
      await remove()
    },
  }
}
