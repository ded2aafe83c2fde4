import { ensemble, task } from '@tutti/ensemble'
import { TextRestorer } from '@tutti/protocol/internal'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer, type TestServer } from './open-server.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const ANSWER = 'An answer of many words. '.repeat(400)

const STREAM = { accept: 'text/event-stream' }

describe('a reader that restores repeated texts', () => {
  it('[PROTO-R1] A reader with repeats=omit gets the answer once, live and from the log, over SSE', async () => {
    await using api = await openAnswering()
    const response = await api.post('/api/runs?repeats=omit', {}, STREAM)
    const runId = response.headers.get('tutti-run-id') ?? ''
    const live = await eventsOf(response)
    const full = await eventsOf(await api.get(`/api/runs/${runId}/events`))
    const stored = await eventsOf(await api.get(`/api/runs/${runId}/events?repeats=omit`))
    expect(countAnswers(full)).toBe(3)
    for (const sent of [live, stored]) {
      expect(countAnswers(sent)).toBe(0)
      expect(restore(sent)).toEqual(full)
    }
  })

  it('[PROTO-R2] A reader with repeats=omit that resumes gets texts in full whose source it did not get', async () => {
    await using api = await openAnswering()
    const full = await eventsOf(await api.post('/api/runs', {}, STREAM))
    const runId = full[0]?.runId ?? ''
    for (const { seq } of full) {
      const path = `/api/runs/${runId}/events?from=${seq}&repeats=omit`
      const sent = await eventsOf(await api.get(path))
      expect(restore(sent)).toEqual(full.slice(seq))
    }
    const results = `/api/runs/${runId}/events?events=run_result&repeats=omit`
    expect(await eventsOf(await api.get(results))).toEqual(full.slice(-1))
  })

  it('[PROTO-R1] A subscription with repeats=omit gets the answer once, and another one of the same connection in full', async () => {
    await using api = await openAnswering()
    const full = await eventsOf(await api.post('/api/runs', {}, STREAM))
    const runId = full[0]?.runId ?? ''
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    socket.send({ type: 'subscribe', events: [], runId, from: 0, repeats: 'omit' })
    await socket.next('run_result')
    const sent = [...socket.events]
    expect(countAnswers(sent)).toBe(0)
    expect(restore(sent)).toEqual(full)
    socket.send({ type: 'subscribe', events: [], runId, from: -1 })
    await expect.poll(() => socket.events.slice(sent.length)).toEqual(full.slice(-1))
  })

  it('A request with repeats that does not follow a run is refused', async () => {
    await using api = await openAnswering()
    const response = await api.post('/api/runs?repeats=omit&events=token', {})
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { problems: [{ path: '/events' }, { path: '/repeats' }] },
    ])
    expect((await api.get('/api/runs/run-1/events?repeats=all')).status).toBe(400)
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    socket.send({ type: 'subscribe', events: [], repeats: 'omit' })
    expect(await socket.next('error')).toMatchObject({
      message: expect.stringContaining('/from is required with "repeats"'),
    })
  })
})

function openAnswering(): Promise<TestServer> {
  const model = scriptedModel(() => ANSWER, { provider: 'scripted' })
  const write = task({ name: 'write', description: 'Write' })
  return openServer({ ensembles: [ensemble({ name: 'writers', tasks: [write], model })] })
}

/** Returns the number of events that repeat the answer after its tokens. */
function countAnswers(events: readonly LoggedRunEvent[]): number {
  const others = events.filter(({ type }) => type !== 'token')
  return others.filter((event) => JSON.stringify(event).includes(ANSWER)).length
}

function restore(events: readonly LoggedRunEvent[]): readonly LoggedRunEvent[] {
  const restorer = new TextRestorer()
  return events.map((event) => {
    const restored = restorer.restore(event)
    if (!restored.ok) throw new Error(JSON.stringify(restored.problems))
    return restored.value
  })
}
