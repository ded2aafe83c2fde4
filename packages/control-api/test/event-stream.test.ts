import { decodeLoggedRunEvent } from '@tutti/protocol'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, frames, openServer, type Frame, type TestServer } from './open-server.ts'

describe('the event stream of a run', () => {
  it('The event stream of a run sends live events with ids and tokens, and ends after the terminal one', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    const response = await api.get(`/api/runs/${runId}/events`)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const seen: Frame[] = []
    for await (const frame of frames(response)) {
      seen.push(frame)
      if (frame.data?.type === 'task_started' && frame.data.taskName === 'play') api.play()
    }
    const events = seen.flatMap(({ data }) => data ?? [])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    for (const event of events) expect(decodeLoggedRunEvent(event)).toMatchObject({ ok: true })
    const framed = seen.filter(({ data }) => data !== undefined)
    expect(framed.every(({ id, event, data }) => id === data?.id && event === data?.type)).toBe(
      true,
    )
    const text = events.map((event) => (event.type === 'token' ? event.token : '')).join('')
    expect(text).toBe('All instruments are in tune nowOne momentIt was played in full')
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
  })

  it('The event stream of a run resumes after Last-Event-ID, at `from`, or a number of events from the end', async () => {
    await using api = await openServer()
    const { runId, all } = await submitToEnd(api)
    const seqs = async (query: string, headers = {}): Promise<readonly number[]> => {
      const response = await api.get(`/api/runs/${runId}/events${query}`, { headers })
      return (await eventsOf(response)).map(({ seq }) => seq)
    }
    const last = all.length - 1
    expect(await seqs('?from=3')).toEqual(range(3, last))
    expect(await seqs('?from=-2')).toEqual([last - 1, last])
    expect(await seqs('?from=-999')).toEqual(range(0, last))
    expect(await seqs('?from=0', { 'last-event-id': `${runId}:4` })).toEqual(range(5, last))
    expect(await seqs('', { 'last-event-id': '4' })).toEqual(range(5, last))
  })

  it('The event stream of a run drops and repeats nothing wherever a reader leaves and reconnects', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    api.play()
    const seen: number[] = []
    let headers: Record<string, string> = {}
    for (;;) {
      const response = await api.get(`/api/runs/${runId}/events`, { headers })
      if (response.status === 204) break
      for await (const { data, id } of frames(response)) {
        if (data === undefined || id === undefined) continue
        seen.push(data.seq)
        headers = { 'last-event-id': id }
        break
      }
    }
    expect(seen).toEqual(range(0, seen.length - 1))
    expect((await api.detail(runId)).lastSeq).toBe(seen.length - 1)
  })

  it('The event stream of a run sends only the requested types, and still ends', async () => {
    await using api = await openServer()
    const { runId } = await submitToEnd(api)
    const types = async (query: string): Promise<readonly string[]> =>
      (await eventsOf(await api.get(`/api/runs/${runId}/events?events=${query}`))).map(
        ({ type }) => type,
      )
    expect(await types('task_started,task_completed')).toEqual([
      'task_started',
      'task_completed',
      'task_started',
      'task_completed',
    ])
    expect(await types('run_result')).toEqual(['run_result'])
    const response = await api.get(`/api/runs/${runId}/events?events=task_started,tokens`)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        problems: [
          {
            path: '/events',
            message: 'has the unknown event type "tokens": did you mean "token"?',
          },
        ],
      },
    ])
  })

  it('The event stream of a run returns 204 at the end of a finished run, 409 beyond the end, and 400 for the id of another run', async () => {
    await using api = await openServer()
    const { runId, all } = await submitToEnd(api)
    const status = async (query: string, headers = {}): Promise<number> =>
      (await api.get(`/api/runs/${runId}/events${query}`, { headers })).status
    expect(await status(`?from=${all.length}`)).toBe(204)
    expect(await status(`?from=${all.length + 1}`)).toBe(409)
    expect(await status('', { 'last-event-id': 'run-other:1' })).toBe(400)
    expect(await status('?from=x')).toBe(400)
  })

  it('The event stream of a run sends heartbeats while no events occur', async () => {
    const clock = fakeClock()
    await using api = await openServer({ clock, heartbeatMs: 15_000 })
    const runId = await api.submit()
    const stream = frames(await api.get(`/api/runs/${runId}/events?events=run_result`))
    expect((await stream.next()).value).toEqual({ comment: 'events follow' })
    const sign = stream.next()
    // The stream uses the clock after the past events; until then there is no timer to fire.
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(15_000)
    expect((await sign).value).toEqual({ comment: 'still here' })
    api.play()
    expect((await stream.next()).value).toMatchObject({ event: 'run_result' })
  })

  it('The event stream of a run is the same for readers that connect at the start, in the middle and after the end', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    const read = async () => eventsOf(await api.get(`/api/runs/${runId}/events`))
    const start = read()
    await api.runs.follow({ runId, from: 3 }).next()
    const middle = read()
    api.play()
    const [first, second] = await Promise.all([start, middle])
    expect(second).toEqual(first)
    expect(await read()).toEqual(first)
  })

  it('The event stream of a run does not disturb the run when a reader leaves', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    for await (const { data } of frames(await api.get(`/api/runs/${runId}/events`))) {
      if (data?.type === 'task_started') break
    }
    api.play()
    const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(api.errors).toEqual([])
  })
})

async function submitToEnd(api: TestServer) {
  const runId = await api.submit()
  api.play()
  return { runId, all: await eventsOf(await api.get(`/api/runs/${runId}/events`)) }
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
