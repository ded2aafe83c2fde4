import { decodeServerMessage } from '@tutti/protocol'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer, type Socket } from './open-server.ts'

const INPUTS = { composer: 'Bach', hall: 'A' }

describe('a WebSocket connection', () => {
  it('[API-N1] A WebSocket connection gets an empty hello before the first run, then all events', async () => {
    await using api = await openServer()
    await using socket = api.connect()
    expect(await socket.next('hello')).toEqual({
      type: 'hello',
      sharedCapabilities: expect.any(Array),
    })
    const runId = await api.submit()
    api.play()
    const sse = await eventsOf(await api.get(`/api/runs/${runId}/events`))
    await socket.next('run_result')
    expect(socket.events).toEqual(sse)
    for (const message of socket.received) {
      expect(decodeServerMessage(message)).toMatchObject({ ok: true })
    }
  })

  it('[API-N1] A WebSocket connection that opens late gets past events in hello and the rest live, without duplicates', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    for await (const batch of api.runs.follow({ runId, from: 0 })) {
      if (batch.some(({ type }) => type === 'task_completed')) break
    }
    await using socket = api.connect()
    const hello = await socket.next('hello')
    expect(hello).toMatchObject({ ensembleId: runId, startedAt: expect.any(String) })
    const trace = hello.snapshotTrace ?? []
    expect(trace.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['ensemble_started', 'task_started', 'task_completed']),
    )
    api.play()
    await socket.next('run_result')
    const seqs = [
      ...trace.map((event) => ('seq' in event ? event.seq : -1)),
      ...socket.events.map(({ seq }) => seq),
    ]
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
    expect(socket.events.map(({ type }) => type)).toContain('ensemble_completed')
  })

  it('[API-N1] A WebSocket connection does not get events again live that happened while its hello was built', async () => {
    await using api = await openServer()
    api.play()
    const list = api.runs.list.bind(api.runs)
    // A whole run happens between the connection and the building of its hello.
    api.runs.list = async (query) => {
      await eventsOf(await api.get(`/api/runs/${await api.submit()}/events`))
      return list(query)
    }
    await using socket = api.connect()
    const hello = await socket.next('hello')
    expect(hello.snapshotTrace?.at(-1)).toMatchObject({ type: 'run_result' })
    socket.send({ type: 'ping' })
    await socket.next('pong')
    expect(socket.events).toEqual([])
  })

  it('A WebSocket connection to one run gets only the events of that run; for an unknown run it is refused with 404', async () => {
    await using api = await openServer()
    const [first, second] = [await api.submit(), await api.submit()]
    await using socket = api.connect(`/runs/${second}/ws`)
    await socket.next('hello')
    socket.send({ type: 'subscribe', events: ['*'] })
    await socket.next('subscribe_ack')
    api.play()
    await socket.next('run_result')
    await eventsOf(await api.get(`/api/runs/${first}/events`))
    expect(new Set(socket.events.map(({ runId }) => runId))).toEqual(new Set([second]))
    await using unknown = api.connect('/runs/run-none/ws')
    expect(await unknown.refused()).toBe(404)
    for (const path of ['/socket', '/runs/none/ws']) {
      await using elsewhere = api.connect(path)
      expect(await elsewhere.refused()).toBe(404)
    }
  })

  it('A WebSocket connection replies to ping, and sends heartbeats', async () => {
    const clock = fakeClock()
    await using api = await openServer({ clock })
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'ping' })
    expect(await socket.next('pong')).toEqual({ type: 'pong' })
    await clock.advance(15_000)
    expect(await socket.next('heartbeat')).toEqual({ type: 'heartbeat', serverTimeMs: clock.now() })
  })

  it('A WebSocket connection submits a run, gets its acceptance, and its result regardless of the subscription', async () => {
    await using api = await openServer()
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'subscribe', events: ['task_failed'] })
    expect(await socket.next('subscribe_ack')).toEqual({
      type: 'subscribe_ack',
      events: ['task_failed'],
    })
    socket.send({ type: 'run_request', requestId: 'q-1', inputs: INPUTS })
    const ack = await socket.next('run_ack')
    expect(ack).toMatchObject({
      requestId: 'q-1',
      status: 'ACCEPTED',
      tasks: 2,
      workflow: 'PARALLEL',
    })
    api.play()
    expect(await socket.next('run_result')).toMatchObject({ runId: ack.runId, status: 'COMPLETED' })
    expect(socket.events).toHaveLength(1)
  })

  it('A WebSocket connection gets the result of a run that it submitted while it reads another one from its log', async () => {
    await using api = await openServer()
    const watched = await api.submit()
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'run_request', inputs: INPUTS })
    const { runId: own } = await socket.next('run_ack')
    const before = socket.events.length
    socket.send({ type: 'subscribe', events: ['run_queued'], runId: watched, from: 0 })
    await socket.next('subscribe_ack')
    api.play()
    expect(await socket.next('run_result')).toMatchObject({ runId: own, status: 'COMPLETED' })
    const after = socket.events.slice(before).map(({ type, runId }) => [type, runId])
    expect(after).toContainEqual(['run_result', own])
    expect(after).not.toContainEqual(['run_result', watched])
  })

  it('[API-N2] A WebSocket connection gets the reason why a run is refused, with every problem', async () => {
    await using api = await openServer()
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'run_request', requestId: 'q-1', inputs: { hal: 'A' } })
    expect(await socket.next('run_ack')).toMatchObject({
      requestId: 'q-1',
      status: 'REJECTED',
      error: 'BAD_REQUEST',
      message:
        'Cannot run "band": /inputs/hal is not a known input (known: composer, hall). ' +
        'Did you mean "hall"?; missing inputs: composer, hall',
    })
  })

  it.each([
    ['text that is not JSON', '{"type":', 'must be JSON'],
    ['an unknown type', { type: 'sing' }, '"sing"'],
    ['an unknown key', { type: 'ping', loud: true }, '/loud'],
    ['a cursor without a run', { type: 'subscribe', events: ['*'], from: 0 }, '/runId'],
  ])(
    '[API-N2] A WebSocket connection replies to %s with an error and stays open',
    async (_, message, named) => {
      await using api = await openServer()
      await using socket = api.connect()
      await socket.next('hello')
      socket.send(message)
      expect(await socket.next('error')).toMatchObject({ message: expect.stringContaining(named) })
      socket.send({ type: 'ping' })
      await socket.next('pong')
    },
  )

  it('A WebSocket connection replays a run from the requested position, then continues live', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    await api.runs.follow({ runId, from: 5 }).next()
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'subscribe', events: ['*'], runId, from: 2 })
    await socket.next('subscribe_ack')
    api.play()
    await socket.next('run_result')
    // Until the reply, the connection gets live events.
    const all = socket.events.map(({ seq }) => seq)
    const seqs = all.slice(all.lastIndexOf(2))
    expect(seqs.length).toBeGreaterThan(20)
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 2))
  })

  it('A WebSocket connection cancels a run and queries the state with the responses of REST', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'run_control', runId, action: 'cancel' })
    expect(await socket.next('run_control_ack')).toEqual({
      type: 'run_control_ack',
      runId,
      action: 'cancel',
      status: 'CANCELLING',
    })
    await socket.next('run_result')
    for (const [query, path] of [
      ['run_detail', `/api/runs/${runId}`],
      ['runs', '/api/runs'],
      ['capabilities', '/api/capabilities'],
    ]) {
      const asked = answerTo(socket, String(query))
      socket.send({
        type: 'state_query',
        requestId: query,
        query,
        ...(query === 'run_detail' ? { runId } : {}),
      })
      expect((await asked).data).toEqual(await (await api.get(String(path))).json())
    }
  })

  it('A WebSocket connection cancels at the boundary of a task on request', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'run_control', runId, action: 'cancel', mode: 'boundary' })
    expect(await socket.next('run_control_ack')).toMatchObject({ status: 'CANCELLING' })
    expect(await socket.next('run_cancelling')).toMatchObject({ runId, mode: 'boundary' })
    api.play()
    expect(await socket.next('run_result')).toMatchObject({ runId })
  })

  it('[API-N3] A WebSocket connection that does not read is closed with the last event sent', async () => {
    await using api = await openServer({ maxBufferedBytes: 100_000, maxBodyBytes: 2_000_000 })
    await using slow = api.connect()
    await slow.next('hello')
    const closed = slow.closed()
    slow.socket.pause()
    const large = { composer: 'B'.repeat(900_000), hall: 'A' }
    const count = 30
    for (let index = 0; index < count; index += 1) {
      const response = await api.post('/api/runs', { runId: `run-${index}`, inputs: large })
      expect(response.status).toBe(202)
    }
    slow.socket.resume()
    expect(await closed).toEqual([
      1013,
      expect.stringMatching(/^Too slow; last event sent: run-\d+:\d+$/),
    ])
  })

  it('A WebSocket connection is closed when the server stops; one that does not respond is terminated', async () => {
    const clock = fakeClock()
    const api = await openServer({ clock })
    const [polite, deaf] = [api.connect(), api.connect()]
    await Promise.all([polite.next('hello'), deaf.next('hello')])
    const [told, cut] = [polite.closed(), deaf.closed()]
    deaf.socket.pause()
    const stopped = api[Symbol.asyncDispose]()
    expect(await told).toEqual([1001, 'The server is shutting down'])
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(1_000)
    await stopped
    deaf.socket.resume()
    await cut
  })
})

function answerTo(socket: Socket, requestId: string) {
  return new Promise<{ readonly data: unknown }>((resolve) => {
    socket.socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString())
      if (message.type === 'state_response' && message.requestId === requestId) resolve(message)
    })
  })
}
