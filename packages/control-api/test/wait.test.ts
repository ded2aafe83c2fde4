/** `POST /api/runs?wait=…`: callers that want the result in the response. */
import { decode, RunDetail, ROUTES } from '@tutti/protocol'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'

import { eventsOf, openServer } from './open-server.ts'
import { openRecordedServer } from './recorded-server.ts'

/** A timeout that no other code uses. */
const WAIT_MS = 599_000

const BODY = { inputs: { composer: 'Bach', hall: 'A' } }

/** Fake clock that counts the waiters with a certain timeout. */
function countingClock() {
  const clock = fakeClock()
  let waiting = 0
  return {
    ...clock,
    waiting: () => waiting,
    after(ms: number, callback: () => void) {
      if (ms !== WAIT_MS) return clock.after(ms, callback)
      waiting += 1
      const stop = clock.after(ms, callback)
      return () => {
        waiting -= 1
        stop()
      }
    },
  }
}

describe('a submission with `wait`', () => {
  it('A submission with `wait` returns 200 and the run in detail when it ends in time', async () => {
    await using api = await openRecordedServer()
    const response = await api.post('/api/runs?wait=60', { inputs: { topic: 'AI' } })
    const body: unknown = await response.json()
    expect(response.status).toBe(200)
    const decoded = decode(RunDetail, body)
    expect(decoded).toMatchObject({ ok: true, value: { status: 'COMPLETED' } })
    expect(response.headers.get('location')).toBe(`/api/runs/${(body as RunDetail).runId}`)
    expect(body).toEqual(await api.detail((body as RunDetail).runId))
  })

  it('A submission with `wait` returns 200 also for a run that fails', async () => {
    await using api = await openRecordedServer()
    const tasks = [{ name: 'a', description: 'A', outputSchema: { required: ['never'] } }]
    const response = await api.post('/api/runs?wait=60', { tasks })
    expect([response.status, await response.json()]).toMatchObject([200, { status: 'FAILED' }])
  })

  it('A submission with `wait` returns 202 on a timeout, and the run continues', async () => {
    const clock = countingClock()
    await using api = await openServer({ clock })
    const answering = api.post('/api/runs?wait=599', BODY)
    await until('the timers of the wait', () => clock.waiting() === 1)
    await clock.advance(WAIT_MS)
    const response = await answering
    const body: unknown = await response.json()
    expect(response.status).toBe(202)
    expect(decode(ROUTES.submitRun.response, body)).toMatchObject({ ok: true })
    const { runId } = body as { runId: string }
    expect((await api.detail(runId)).status).not.toBe('COMPLETED')
    api.play()
    const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
  })

  it('A submission with `wait` continues when its caller leaves, and leaves no timers or listeners', async () => {
    const clock = countingClock()
    await using api = await openServer({ clock })
    const leaving = new AbortController()
    const answering = api.get('/api/runs?wait=599', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...BODY, runId: 'mine' }),
      signal: leaving.signal,
    })
    await until('the timers of the wait', () => clock.waiting() === 1)
    leaving.abort()
    await expect(answering).rejects.toThrow(/abort/i)
    await until('the timers of the wait', () => clock.waiting() === 0)
    api.play()
    const events = await eventsOf(await api.get('/api/runs/mine/events'))
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(api.errors).toEqual([])
  })

  it('A submission with `wait` returns 202 when the run is deleted meanwhile', async () => {
    const clock = countingClock()
    await using api = await openServer({ clock })
    const answering = api.post('/api/runs?wait=599', { ...BODY, runId: 'mine' })
    await until('the timers of the wait', () => clock.waiting() === 1)
    expect((await api.get('/api/runs/mine', { method: 'DELETE' })).status).toBe(204)
    const response = await answering
    // The run ended before its deletion: both responses are correct, and neither is an error.
    expect([200, 202]).toContain(response.status)
    expect(await response.json()).toMatchObject({ runId: 'mine' })
  })

  it('A submission with `wait` under an idempotency key returns the earlier run, ended or not', async () => {
    await using api = await openRecordedServer()
    const submit = () =>
      api.post('/api/runs?wait=60', { inputs: { topic: 'AI' } }, { 'idempotency-key': 'k' })
    const first = await (await submit()).json()
    const second = await submit()
    expect([second.status, await second.json()]).toEqual([200, first])
    expect(api.asked).toHaveLength(3)
  })

  it.each(['-1', '601', '1.5', 'x', ''])(
    'A submission with `wait` is refused for %j seconds',
    async (wait) => {
      await using api = await openRecordedServer()
      const response = await api.post(`/api/runs?wait=${wait}`, { inputs: { topic: 'AI' } })
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: 'BAD_REQUEST', problems: [{ path: '/wait' }] },
      ])
      expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
    },
  )
})
