/** `POST /api/runs/cancel`: cancels all runs with a tag. */
import { decode, ROUTES } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer, type TestServer } from './open-server.ts'

const INPUTS = { composer: 'Bach', hall: 'A' }

async function submit(api: TestServer, runId: string, tags: object = {}): Promise<void> {
  const response = await api.post('/api/runs', { runId, inputs: INPUTS, tags })
  expect(response.status).toBe(202)
}

async function cancel(api: TestServer, body: object) {
  const response = await api.post('/api/runs/cancel', body)
  const listed: unknown = await response.json()
  expect(response.status).toBe(200)
  expect(decode(ROUTES.cancelRuns.response, listed)).toMatchObject({ ok: true })
  return listed as { runs: { runId: string; status: string }[]; total: number }
}

const waitForEnd = async (api: TestServer, runId: string) =>
  (await eventsOf(await api.get(`/api/runs/${runId}/events`))).at(-1)

describe('cancelling runs by tag', () => {
  it('A cancel of runs by tag cancels the unfinished runs with the tag, and no others', async () => {
    await using api = await openServer({ limits: { maxConcurrentRuns: 1 } })
    await submit(api, 'running', { batch: '7' })
    await submit(api, 'waiting', { batch: '7', more: 'x' })
    await submit(api, 'another', { batch: '8' })
    await submit(api, 'untagged')
    const { runs, total } = await cancel(api, { tag: 'batch:7' })
    expect(runs.map(({ runId }) => runId).toSorted()).toEqual(['running', 'waiting'])
    expect([total, runs.find(({ runId }) => runId === 'waiting')?.status]).toEqual([2, 'CANCELLED'])
    for (const runId of ['running', 'waiting']) {
      expect(await waitForEnd(api, runId)).toMatchObject({ status: 'CANCELLED' })
      expect(await (await api.get(`/api/runs/${runId}`)).json()).toMatchObject({
        status: 'CANCELLED',
        cancel: { cause: 'CALLER' },
      })
    }
    expect(await cancel(api, { tag: 'batch:7' })).toEqual({ runs: [], total: 0 })
    api.play()
    for (const runId of ['another', 'untagged']) {
      expect(await waitForEnd(api, runId)).toMatchObject({ status: 'COMPLETED' })
    }
  })

  it('A cancel of runs by tag matches every value for a key alone, and lets tasks finish at a boundary', async () => {
    await using api = await openServer()
    await submit(api, 'one', { batch: '1' })
    await submit(api, 'two', { batch: '2' })
    for (const runId of ['one', 'two']) {
      for await (const batch of api.runs.follow({ runId, from: 0 })) {
        if (batch.some((event) => 'taskName' in event && event.taskName === 'play')) break
      }
    }
    const { runs } = await cancel(api, { tag: 'batch', mode: 'boundary' })
    expect(runs.map(({ status }) => status)).toEqual(['CANCELLING', 'CANCELLING'])
    api.play()
    for (const runId of ['one', 'two']) {
      const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
      expect(events.find(({ type }) => type === 'run_cancelling')).toMatchObject({
        mode: 'boundary',
      })
      expect(events.filter(({ type }) => type === 'task_failed')).toEqual([])
    }
  })

  it('A cancel of runs by tag cancels all earlier runs without an error while runs with the tag start and end', async () => {
    await using api = await openServer({ limits: { maxConcurrentRuns: 4, maxQueuedRuns: 1_000 } })
    const tags = { batch: '7' }
    for (let run = 0; run < 60; run += 1) await submit(api, `before-${run}`, tags)
    api.play()
    const coming = Array.from({ length: 20 }, (_, run) => submit(api, `while-${run}`, tags))
    const [{ runs }] = await Promise.all([cancel(api, { tag: 'batch:7' }), ...coming])
    expect(new Set(runs.map(({ runId }) => runId)).size).toBe(runs.length)
    for (let run = 0; run < 60; run += 1) {
      const result = await waitForEnd(api, `before-${run}`)
      const listed = runs.find(({ runId }) => runId === `before-${run}`)
      expect(result).toMatchObject({ type: 'run_result' })
      if (listed === undefined) expect(result).toMatchObject({ status: 'COMPLETED' })
    }
    expect(api.errors).toEqual([])
  })

  it.each([[{}], [{ tag: '' }], [{ tag: 7 }], [{ tag: 'a', mode: 'soft' }], [{ tag: 'a', x: 1 }]])(
    'A cancel of runs by tag is refused for %j',
    async (body) => {
      await using api = await openServer()
      const response = await api.post('/api/runs/cancel', body)
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: 'BAD_REQUEST' },
      ])
    },
  )
})
