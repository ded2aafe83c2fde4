/** `POST /api/runs` with `Accept: text/event-stream`: the events of the run in the response to its submission. */
import { describe, expect, it } from 'vitest'

import { eventsOf, frames, openServer, type TestServer } from './open-server.ts'
import { openRecordedServer } from './recorded-server.ts'

const BODY = { inputs: { composer: 'Bach', hall: 'A' } }
const STREAM = { accept: 'text/event-stream' }

describe('a submission that accepts an event stream', () => {
  it('A submission that accepts an event stream returns the run id in the headers and all events of the run, as its event stream does', async () => {
    await using api = await openServer()
    api.play()
    const response = await api.post('/api/runs', { ...BODY, runId: 'mine-1' }, STREAM)
    const { status, headers } = response
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(headers.get('location')).toBe('/api/runs/mine-1')
    expect(headers.get('tutti-run-id')).toBe('mine-1')
    const events = await eventsOf(response)
    expect(events[0]).toMatchObject({ type: 'run_queued', runId: 'mine-1', seq: 0 })
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    expect(events).toEqual(await eventsOf(await api.get('/api/runs/mine-1/events')))
  })

  it.each([
    ['inputs', { inputs: { topic: 'AI' } }],
    ['overrides', { inputs: { topic: 'AI' }, taskOverrides: { researcher: { maxIterations: 9 } } }],
    ['own tasks', { tasks: [{ name: 'a', description: 'A' }] }],
  ])('A submission that accepts an event stream streams a run of %s', async (_, body) => {
    await using api = await openRecordedServer()
    const events = await eventsOf(await api.post('/api/runs', body, STREAM))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index))
    expect(events.at(-1)).toMatchObject({ type: 'run_result' })
  })

  it('A submission that accepts an event stream sends only the requested types', async () => {
    await using api = await openServer()
    api.play()
    const response = await api.post('/api/runs?events=task_started,run_result', BODY, STREAM)
    const types = (await eventsOf(response)).map(({ type }) => type)
    expect(types).toEqual(['task_started', 'task_started', 'run_result'])
  })

  it('A submission that accepts an event stream sends events while the run executes', async () => {
    await using api = await openServer()
    const response = await api.post('/api/runs', BODY, STREAM)
    const seen: string[] = []
    for await (const { data } of frames(response)) {
      if (data === undefined) continue
      seen.push(data.type)
      if (data.type === 'task_started' && data.taskName === 'play') api.play()
    }
    expect(seen.at(-1)).toBe('run_result')
  })

  it('A submission that accepts an event stream joins the run of an earlier submission from its start, or after Last-Event-ID', async () => {
    await using api = await openServer()
    const submit = (headers = {}) =>
      api.post('/api/runs', BODY, { ...STREAM, 'idempotency-key': 'k', ...headers })
    const first = await submit()
    const joined = await submit()
    expect(joined.headers.get('location')).toBe(first.headers.get('location'))
    api.play()
    const events = await eventsOf(first)
    expect(await eventsOf(joined)).toEqual(events)
    expect(await eventsOf(await submit())).toEqual(events)
    const later = await submit({ 'last-event-id': events[3]?.id })
    expect(await eventsOf(later)).toEqual(events.slice(4))
    const end = await submit({ 'last-event-id': events.at(-1)?.id })
    expect([end.status, end.headers.get('location')]).toEqual([204, first.headers.get('location')])
    const beyond = await submit({ 'last-event-id': String(events.length) })
    expect([beyond.status, await beyond.json()]).toMatchObject([409, { error: 'CURSOR_PAST_END' }])
    expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(1)
  })

  it('A submission that accepts an event stream loses and repeats no event when the stream is dropped and the reader rejoins', async () => {
    await using api = await openServer()
    api.play()
    const seen: number[] = []
    const headers: Record<string, string> = { ...STREAM, 'idempotency-key': 'k' }
    for (;;) {
      const response = await api.post('/api/runs', BODY, headers)
      if (response.status === 204) break
      for await (const { data, id } of frames(response)) {
        if (data === undefined || id === undefined) continue
        seen.push(data.seq)
        headers['last-event-id'] = id
        break
      }
    }
    const { runs } = await api.runs.list({ limit: 2, offset: 0 })
    expect(runs.map(({ lastSeq }) => lastSeq)).toEqual([seen.length - 1])
    expect(seen).toEqual(seen.map((_, index) => index))
  })

  it('A submission that accepts an event stream continues the run when the caller leaves', async () => {
    await using api = await openServer()
    for await (const { data } of frames(
      await api.post('/api/runs', { ...BODY, runId: 'mine' }, STREAM),
    )) {
      if (data?.type === 'task_started') break
    }
    api.play()
    const events = await eventsOf(await api.get('/api/runs/mine/events'))
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(api.errors).toEqual([])
  })

  it.each([
    ['an unknown ensemble', '', { ensemble: 'x' }, 400],
    ['a missing input', '', { inputs: {} }, 400],
    ['an unknown event type', '?events=nothing', BODY, 400],
    ['`wait`', '?wait=5', BODY, 400],
  ])(
    'A submission that accepts an event stream answers %s with an ordinary error, and creates no run',
    async (_, query, body, status) => {
      await using api = await openServer()
      const response = await api.post(`/api/runs${query}`, body, STREAM)
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
    },
  )

  it('A submission that accepts an event stream refuses `events` without a stream', async () => {
    await using api = await openServer()
    const response = await api.post('/api/runs?events=token', BODY)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { problems: [{ path: '/events' }] },
    ])
  })

  it.each([
    ['*/*', false],
    ['application/json, text/event-stream', false],
    ['text/event-stream;q=0.5, application/json', false],
    ['application/json;q=0.5, text/event-stream', true],
    ['text/event-stream, */*;q=0.1', true],
  ])(
    'A submission that accepts an event stream prefers JSON unless Accept prefers the stream: %s',
    async (accept, isStream) => {
      await using api = await openServer()
      api.play()
      const response = await api.post('/api/runs', BODY, { accept })
      expect(response.status).toBe(isStream ? 200 : 202)
      await response.text()
    },
  )

  it('A submission that accepts an event stream ends the streams of readers when the server closes', async () => {
    const api: TestServer = await openServer()
    const response = await api.post('/api/runs', BODY, STREAM)
    const reading = eventsOf(response).catch(() => 'cut')
    api.play()
    await api[Symbol.asyncDispose]()
    expect(await reading).toBeDefined()
  })
})
