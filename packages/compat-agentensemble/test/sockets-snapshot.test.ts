/** Connections without a snapshot: their hello, and their messages before they subscribe. */
import { describe, expect, it } from 'vitest'

import { apiKey } from '@tutti/control-api'
import { reviewedTask } from '../../control-api/test/reviewed-ensembles.ts'
import {
  eventsOf,
  openServer,
  type TestServer,
  type Socket,
} from '../../control-api/test/open-server.ts'

import type { RunService } from '@tutti/runs'

const BARE_HELLO = { type: 'hello', sharedCapabilities: expect.any(Array) }

const KEY = 'secret-of-the-viewer-0123456789'

describe('[API-N4] a connection without a snapshot', () => {
  it('A connection without a snapshot gets a hello without runs and reviews, which reads nothing from the store', async () => {
    await using api = await serveOpenReview()
    const [review] = await api.runs.reviews.open()
    const runId = review?.runId ?? ''
    const read = countReads(api.runs)
    for (const path of ['/ws', `/runs/${runId}/ws`]) {
      await using socket = api.connect(`${path}?snapshot=none`)
      expect(await socket.next('hello')).toEqual(BARE_HELLO)
      await waitForPong(socket)
      expect(socket.received.map(({ type }) => type)).toEqual(['hello', 'pong'])
    }
    expect(read).toEqual([])
    await using whole = api.connect('/ws?snapshot=all')
    expect(await whole.next('hello')).toMatchObject({ ensembleId: runId })
    expect(await whole.next('review_requested')).toMatchObject({ runId })
    expect(read.length).toBeGreaterThan(0)
  })

  it.each(['/ws', '/runs/run-1/ws'])(
    'A connection without a snapshot gets no event on %s before it subscribes',
    async (path) => {
      await using api = await openServer()
      await submit(api, 'run-1')
      await using socket = api.connect(`${path}?snapshot=none`)
      await socket.next('hello')
      await submit(api, 'run-2')
      api.play()
      for (const runId of ['run-1', 'run-2']) await runToEnd(api, runId)
      await waitForPong(socket)
      expect(socket.events).toEqual([])
    },
  )

  it('A connection without a snapshot gets live events after it subscribes; a connection to one run gets those of that run', async () => {
    await using api = await openServer()
    await submit(api, 'run-1')
    await using all = api.connect('/ws?snapshot=none')
    await using one = api.connect('/runs/run-1/ws?snapshot=none')
    for (const socket of [all, one]) {
      await socket.next('hello')
      socket.send({ type: 'subscribe', events: ['*'] })
      await socket.next('subscribe_ack')
    }
    await submit(api, 'run-2')
    api.play()
    const [first, second] = [await runToEnd(api, 'run-1'), await runToEnd(api, 'run-2')]
    await until(all, 'run-2')
    await until(all, 'run-1')
    await until(one, 'run-1')
    expect(all.events.filter(({ runId }) => runId === 'run-2')).toEqual(second)
    const [begin] = one.events
    expect(one.events).toEqual(first.slice(begin?.seq))
  })

  it('A connection without a snapshot gets a run from the requested position of its log', async () => {
    await using api = await openServer()
    api.play()
    await submit(api, 'run-1')
    const events = await runToEnd(api, 'run-1')
    await using one = api.connect('/runs/run-1/ws?snapshot=none')
    await using all = api.connect('/ws?snapshot=none')
    await Promise.all([one.next('hello'), all.next('hello')])
    one.send({ type: 'subscribe', events: [], from: 0 })
    all.send({ type: 'subscribe', events: [], runId: 'run-1', from: -2 })
    await Promise.all([until(one, 'run-1'), until(all, 'run-1')])
    expect(one.events).toEqual(events)
    expect(all.events).toEqual(events.slice(-2))
  })

  it('A connection without a snapshot gets only the subscribed types, of all runs', async () => {
    await using api = await openServer()
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    socket.send({ type: 'subscribe', events: ['task_completed', 'run_result'] })
    await socket.next('subscribe_ack')
    api.play()
    const logs = []
    for (const runId of ['run-1', 'run-2']) {
      await submit(api, runId)
      logs.push(...(await runToEnd(api, runId)))
      await until(socket, runId)
    }
    const wanted = logs.filter(({ type }) => ['task_completed', 'run_result'].includes(type))
    expect(wanted).toHaveLength(6)
    expect(socket.events).toEqual(wanted)
  })

  it('A connection without a snapshot gets the result of the run that it submits, and no other events', async () => {
    await using api = await openServer()
    api.play()
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    socket.send({ type: 'run_request', inputs: { composer: 'Bach', hall: 'A' } })
    const { runId } = await socket.next('run_ack')
    expect(await socket.next('run_result')).toMatchObject({ runId, status: 'COMPLETED' })
    await waitForPong(socket)
    expect(socket.events.map(({ type }) => type)).toEqual(['run_result'])
  })

  it('A connection without a snapshot can use a ticket', async () => {
    await using api = await openServer({
      apiKeys: [apiKey(KEY, { name: 'viewer', scopes: ['runs:read'] })],
    })
    const made = await api.post('/api/tickets', {}, { authorization: `Bearer ${KEY}` })
    const { ticket } = (await made.json()) as { ticket: string }
    await using socket = api.connect(`/ws?${new URLSearchParams({ ticket, snapshot: 'none' })}`)
    expect(await socket.next('hello')).toEqual(BARE_HELLO)
    await using refused = api.connect('/ws?snapshot=none')
    expect(await refused.refused()).toBe(401)
  })
})

it.each(['snapshot=some', 'snapshot=', 'snapshot=none&snapshot=none', 'snapshots=none', 'x'])(
  'A connection is refused with 400 at an address with %s',
  async (query) => {
    await using api = await openServer()
    await submit(api, 'run-1')
    for (const path of ['/ws', '/runs/run-1/ws']) {
      await using socket = api.connect(`${path}?${query}`)
      expect(await socket.refused()).toBe(400)
    }
  },
)

async function submit(api: TestServer, runId: string): Promise<void> {
  const inputs = { composer: 'Bach', hall: 'A' }
  expect((await api.post('/api/runs', { runId, inputs })).status).toBe(202)
}

async function runToEnd(api: TestServer, runId: string) {
  return eventsOf(await api.get(`/api/runs/${runId}/events`))
}

/** Resolves when the socket has received everything sent before. */
async function waitForPong(socket: Socket): Promise<void> {
  socket.send({ type: 'ping' })
  await socket.next('pong')
}

/** Resolves when the socket has received the end of a run. */
async function until(socket: Socket, runId: string): Promise<void> {
  await expect
    .poll(() => socket.events.some((event) => event.type === 'run_result' && event.runId === runId))
    .toBe(true)
}

/** Serves a control API with a run that waits for a person. */
async function serveOpenReview(): Promise<TestServer> {
  const api = await openServer({ ensembles: [reviewedTask()], limits: { parkAfterMs: 50 } })
  await api.post('/api/runs', { inputs: { song: 'Amen' } })
  await expect.poll(async () => (await api.runs.reviews.open()).length).toBe(1)
  return api
}

/** Records the names of store reads of more than one record. */
function countReads(runs: RunService): readonly string[] {
  const made: string[] = []
  const { list, readEvents, reviews } = runs
  const { open } = reviews
  runs.list = (query) => {
    made.push('list')
    return list.call(runs, query)
  }
  reviews.open = (query) => {
    made.push('openReviews')
    return open.call(reviews, query)
  }
  runs.readEvents = (query) => {
    made.push('readEvents')
    return readEvents.call(runs, query)
  }
  return made
}
