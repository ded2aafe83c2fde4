/** Tests of a connection over sockets that the test controls. */
import { describe, expect, it } from 'vitest'

import {
  createClient,
  type ClientOptions,
  type ConnectionState,
  type ConnectOptions,
} from '../src/index.ts'
import { settle } from '../../../tooling/test-kit/wait.ts'
import { recordingClock } from './recording-clock.ts'
import { fakeSockets, type FakeSocket } from './fake-socket.ts'
import { LOG, RESULT, RUN_ID, token, logged } from './sample-run.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { ReviewDecisionKind } from '@tutti/protocol/internal'

const REVIEW = {
  type: 'review_requested',
  reviewId: 'v-1',
  taskDescription: 'Write',
  taskOutput: 'Grüße',
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
  timeoutMs: 0,
  onTimeout: 'CONTINUE',
  taskName: 'write',
  taskIndex: 1,
  attempt: 1,
  agentRole: 'Writer',
  requestedAt: '2026-01-01T00:00:00.000Z',
} as const

const NO_KEYS = { error: 'NOT_CONFIGURED', message: 'There are no keys' }

const SUBSCRIBED = { type: 'subscribe_ack', events: [] } as const

function connected(
  options: Partial<ClientOptions> & Pick<ConnectOptions, 'runId' | 'snapshot'> = {},
) {
  const { runId, snapshot, ...clientOptions } = options
  const clock = recordingClock({ skipUpToMs: 10_000 })
  const sockets = fakeSockets()
  const states: ConnectionState[] = []
  const client = createClient({
    baseUrl: 'http://tutti.example/base',
    apiKey: 'k-1',
    headers: { 'X-Team': 'a' },
    clock,
    random: () => 1,
    openSocket: sockets.open,
    fetch: () => Promise.resolve(Response.json({ status: 'running', clients: 0, port: 1 })),
    ...clientOptions,
  })
  const connection = client.connect({
    runId,
    snapshot,
    onConnection: (state) => void states.push(state),
  })
  return { client, clock, sockets, states, connection }
}

/** The decision of the review `v-1`. */
function decidedEvent(decision: ReviewDecisionKind): Readonly<Record<string, unknown>> {
  const decidedAt = '2026-01-01T00:00:00.000Z'
  const [event] = logged([{ type: 'review_decided', reviewId: 'v-1', decision, decidedAt }])
  return event ?? {}
}

/** Sends the greeting, and confirms the subscription of the client. */
function begin(socket: FakeSocket): void {
  socket.greet()
  socket.answer(SUBSCRIBED)
}

async function collect(events: AsyncIterable<LoggedRunEvent>): Promise<LoggedRunEvent[]> {
  const collected: LoggedRunEvent[] = []
  for await (const event of events) collected.push(event)
  return collected
}

describe('a socket', () => {
  it('A socket of the client opens below the base address, with the headers of the client', async () => {
    const { sockets, connection } = connected({ runId: 'a/b' })
    const { url, headers } = await sockets.socket(0)
    expect(url).toBe('ws://tutti.example/base/runs/a%2Fb/ws')
    expect(headers).toEqual({ authorization: 'Bearer k-1', 'x-team': 'a' })
    await connection.close()
    expect(sockets.all[0]?.isClosed).toBe(true)
  })

  it('A socket of the client requests a greeting without runs in its address, each time', async () => {
    const { sockets, connection } = connected({ runId: 'a', snapshot: 'none' })
    const first = await sockets.socket(0)
    begin(first)
    first.lose()
    const { url } = await sockets.socket(1)
    expect(url).toBe('ws://tutti.example/base/runs/a/ws?snapshot=none')
    expect(first.url).toBe(url)
    await connection.close()
    const whole = connected({ snapshot: 'all' })
    expect((await whole.sockets.socket(0)).url).toBe('ws://tutti.example/base/ws?snapshot=all')
    await whole.connection.close()
  })

  it('[CLIENT-C1] A socket of the client is replaced after 45 s of silence', async () => {
    const { clock, sockets, states, connection } = connected()
    begin(await sockets.socket(0))
    await clock.pass(45_000)
    begin(await sockets.socket(1))
    expect(sockets.all[0]?.isClosed).toBe(true)
    expect(states[1]).toMatchObject({ status: 'reconnecting', error: { code: 'TIMED_OUT' } })
    await connection.close()
    expect(clock.waiting).toEqual([])
  })

  it('[CLIENT-C1] A socket of the client is not reopened after maxRetries attempts without a message', async () => {
    const { sockets, states, connection } = connected({ reconnect: { maxRetries: 2 } })
    const failed = expect(connection.hello()).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
    })
    for (const index of [0, 1, 2]) (await sockets.socket(index)).lose(1006)
    await failed
    expect(states.map(({ status }) => status)).toEqual(['reconnecting', 'reconnecting', 'closed'])
    expect(states.map(({ attempt }) => attempt)).toEqual([1, 2, 2])
  })

  it.each(['{"type":', '[]', '{"type":"pong","x":', '{"type":"run_ack"}'])(
    '[CLIENT-C1] A socket of the client ends the connection with the message %s',
    async (text) => {
      const { client, sockets, states, connection } = connected()
      const socket = await sockets.socket(0)
      socket.greet()
      socket.raw(text)
      const command = client.runs.cancel('run-1', { over: connection })
      await expect(command).rejects.toMatchObject({ code: 'BAD_RESPONSE' })
      expect(states.at(-1)).toMatchObject({ status: 'closed', error: { code: 'BAD_RESPONSE' } })
    },
  )

  it('[CLIENT-W2] A socket of the client may send messages that are newer than this client', async () => {
    const { sockets, connection } = connected()
    const events = collect(connection.subscribe({ runId: RUN_ID }))
    const socket = await sockets.socket(0)
    begin(socket)
    socket.say({ type: 'weather', sunny: true })
    for (const event of LOG) socket.say(event.seq === 2 ? { ...event, type: 'chord' } : event)
    expect(await events).toEqual(LOG.filter(({ seq }) => seq !== 2))
    await connection.close()
  })
})

describe('a command over a connection', () => {
  it('[CLIENT-P1] A command over a connection receives the reply or the error with its id, in any order', async () => {
    const { client, sockets, connection } = connected()
    const socket = await sockets.socket(0)
    begin(socket)
    const first = client.runs.cancel('run-1', { mode: 'abort', over: connection })
    const second = client.runs.inject('run-1', 'Louder', { target: 'violin', over: connection })
    await settle()
    expect(socket.sent.slice(1)).toEqual([
      {
        type: 'command',
        requestId: '2',
        command: 'cancel',
        target: 'run-1',
        body: { mode: 'abort' },
      },
      {
        type: 'command',
        requestId: '3',
        command: 'inject',
        target: 'run-1',
        body: { content: 'Louder', target: 'violin' },
      },
    ])
    const response = { directiveId: 'd-1', status: 'ACTIVE' }
    socket.say({ type: 'command_ack', requestId: '3', command: 'inject', response })
    expect(await second).toEqual(response)
    const problems = [{ path: '/body/mode', message: 'is wrong' }]
    const refusal = { error: 'BAD_REQUEST', message: 'Oops', problems }
    socket.say({ type: 'error', ...refusal, requestId: '2' })
    await expect(first).rejects.toMatchObject({ code: 'BAD_REQUEST', problems })
    await connection.close()
  })

  it('[CLIENT-P1] A command over a connection is not answered by acknowledgements, events and errors without its id', async () => {
    const { client, sockets, connection } = connected()
    const over = connection
    const socket = await sockets.socket(0)
    begin(socket)
    const switched = client.runs.switchModel('run-1', { tier: 'primary' }, { over })
    const decided = client.reviews.decide('v-1', { decision: 'CONTINUE' }, { over })
    await settle()
    const applied = { runId: 'run-1', status: 'APPLIED', model: 'other' } as const
    socket.say({ type: 'run_control_ack', action: 'switch_model', ...applied })
    socket.say({
      type: 'command_ack',
      requestId: 'mine',
      command: 'switch_model',
      response: applied,
    })
    socket.say(decidedEvent('CONTINUE'))
    socket.say({ type: 'error', error: 'REVIEW_RESOLVED', message: 'Too late' })
    const response = { ...applied, model: 'large', tier: 'PRIMARY' }
    socket.answer({ type: 'command_ack', command: 'switch_model', response })
    expect(await switched).toEqual(response)
    socket.answer({ type: 'error', error: 'REVIEW_RESOLVED', message: 'Too late' })
    await expect(decided).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
    await connection.close()
  })

  it('A command over a connection fails with BAD_RESPONSE for a reply of another command', async () => {
    const { client, sockets, connection } = connected()
    const socket = await sockets.socket(0)
    begin(socket)
    const cancelled = client.runs.cancel('run-1', { over: connection })
    await settle()
    socket.answer({
      type: 'command_ack',
      command: 'inject',
      response: { directiveId: 'd-1', status: 'ACTIVE' },
    })
    await expect(cancelled).rejects.toMatchObject({ code: 'BAD_RESPONSE' })
    await connection.close()
  })

  it('[CLIENT-P4] A command over a connection is sent only after earlier subscriptions are confirmed', async () => {
    const { client, sockets, connection } = connected()
    const socket = await sockets.socket(0)
    socket.greet()
    connection.subscribe()
    const asked = client.runs.cancel('run-1', { over: connection }).catch((error: unknown) => error)
    await settle()
    expect(socket.sent.map(({ type }) => type)).toEqual(['subscribe'])
    socket.answer(SUBSCRIBED)
    socket.answer(SUBSCRIBED)
    await settle()
    expect(socket.sent.map(({ type }) => type)).toEqual(['subscribe', 'subscribe', 'command'])
    await connection.close()
    expect(await asked).toMatchObject({ code: 'ABORTED' })
  })

  it('[CLIENT-P2] A command over a connection fails when its socket is lost, and is sent on the next one if it was not sent yet', async () => {
    const { client, sockets, connection } = connected()
    const socket = await sockets.socket(0)
    begin(socket)
    const sent = client.runs.cancel('run-1', { over: connection })
    // The second command waits until the subscription is confirmed.
    await settle()
    connection.subscribe()
    const unsent = client.runs.inject('run-1', 'Louder', { over: connection })
    const failed = expect(sent).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
    await settle()
    socket.lose(1012, 'restart')
    await failed
    const next = await sockets.socket(1)
    begin(next)
    await settle()
    expect(next.sent.map(({ type }) => type)).toEqual(['subscribe', 'command'])
    await connection.close()
    await expect(unsent).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('[CLIENT-P3] A command over a connection times out, also without a socket', async () => {
    const { client, clock, connection } = connected({ timeoutMs: 40_000 })
    const failed = expect(client.runs.cancel('run-1', { over: connection })).rejects.toMatchObject({
      code: 'TIMED_OUT',
    })
    await clock.pass(40_000)
    await failed
    await connection.close()
  })
})

describe('a subscription', () => {
  it('[CLIENT-S1] A client subscription requests the next events on each socket, and returns none twice', async () => {
    const { sockets, states, connection } = connected()
    const events = collect(connection.subscribe({ runId: RUN_ID }))
    const first = await sockets.socket(0)
    begin(first)
    for (const event of LOG.slice(0, 2)) first.say(event)
    first.lose()
    const second = await sockets.socket(1)
    begin(second)
    for (const event of LOG.slice(1)) second.say(event)
    expect(await events).toEqual(LOG)
    expect([first, second].map(({ sent }) => sent[0])).toEqual([
      { type: 'subscribe', requestId: '1', events: [], runId: RUN_ID, from: 0, repeats: 'omit' },
      { type: 'subscribe', requestId: '2', events: [], runId: RUN_ID, from: 2, repeats: 'omit' },
    ])
    expect(states[1]).toMatchObject({ status: 'reconnecting', lastEventId: LOG[1]?.id })
    await connection.close()
  })

  it('A client subscription restores texts from the events of its socket, and rejects a reference to another one', async () => {
    const text = 'word '.repeat(200)
    const answer = (responseText: string) => ({ ...TURN, responseText })
    const log = logged([token(text), answer(text)])
    const repeats = [{ at: '/responseText', seq: 0, from: '/token' }]
    const short = logged([token(text), answer('')]).map((event) =>
      event.seq === 1 ? { ...event, repeats } : event,
    )
    const { sockets, connection } = connected()
    const seen: unknown[] = []
    const subscription = collectInto(seen, connection.subscribe({ runId: RUN_ID }))
    const first = await sockets.socket(0)
    begin(first)
    for (const event of short) first.say(event)
    first.lose()
    const second = await sockets.socket(1)
    begin(second)
    second.say({ ...short[1], seq: 2, id: `${RUN_ID}:2` })
    await expect(subscription).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
      message: expect.stringContaining('got /token of event 0'),
    })
    expect(seen).toEqual(log)
    await connection.close()
  })

  it('[CLIENT-S1] A client subscription fetches a missing event on another socket', async () => {
    const { sockets, connection } = connected()
    const events = collect(connection.subscribe({ runId: RUN_ID }))
    const first = await sockets.socket(0)
    begin(first)
    for (const event of LOG) if (event.seq !== 2) first.say(event)
    const second = await sockets.socket(1)
    begin(second)
    for (const event of LOG.slice(2)) second.say(event)
    expect(await events).toEqual(LOG)
    await connection.close()
  })

  it('[CLIENT-S1] A client subscription ends the connection if an event is still missing', async () => {
    const { sockets, connection } = connected()
    const failed = expect(collect(connection.subscribe({ runId: RUN_ID }))).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
      message: `Expected event 0 of run "${RUN_ID}", got 1`,
    })
    for (let index = 0; index < 5; index += 1) {
      const socket = await sockets.socket(index)
      begin(socket)
      socket.say(LOG[1] ?? {})
    }
    await failed
    await connection.close()
  })

  it('[CLIENT-S2] A client subscription returns no event before the server confirms it', async () => {
    const { sockets, connection } = connected()
    const events = collect(connection.subscribe({ runId: RUN_ID, from: 4 }))
    const socket = await sockets.socket(0)
    socket.greet()
    for (const event of LOG.slice(0, 4)) socket.say(event)
    socket.answer(SUBSCRIBED)
    socket.say(LOG[4] ?? {})
    expect(await events).toEqual([LOG[4]])
    await connection.close()
  })

  it('[CLIENT-S2] A client subscription returns no event of one run before the confirmation on a later socket, but every event of all runs', async () => {
    const one = connected()
    const events = collect(one.connection.subscribe({ runId: RUN_ID }))
    const first = await one.sockets.socket(0)
    begin(first)
    first.say(LOG[0] ?? {})
    first.lose()
    const second = await one.sockets.socket(1)
    second.greet()
    second.say(LOG[4] ?? {})
    second.answer(SUBSCRIBED)
    for (const event of LOG.slice(1)) second.say(event)
    expect(await events).toEqual(LOG)
    expect(one.sockets.all).toHaveLength(2)
    await one.connection.close()
    const every = connected()
    const seqs: number[] = []
    every.connection.subscribe({ onEvent: ({ seq }) => void seqs.push(seq) })
    const socket = await every.sockets.socket(0)
    socket.greet()
    socket.say(LOG[3] ?? {})
    expect(seqs).toEqual([3])
    await every.connection.close()
  })

  it('[CLIENT-S3] A client subscription to every run reports a waiting review that is older than the returned events, once', async () => {
    const { sockets, connection } = connected()
    const types: string[] = []
    connection.subscribe({ onEvent: ({ type }) => void types.push(type) })
    const [review, later] = logged([REVIEW, token('a')])
    const socket = await sockets.socket(0)
    begin(socket)
    for (const event of [later, review, review]) socket.say(event ?? {})
    expect(types).toEqual(['token', 'review_requested'])
    await connection.close()
  })

  it('[CLIENT-Q2] A client subscription fails after the queued events if the loop is too slow', async () => {
    const { sockets, connection } = connected()
    const events = connection.subscribe({ runId: RUN_ID, maxWaiting: 2 })
    const socket = await sockets.socket(0)
    begin(socket)
    for (const event of LOG) socket.say(event)
    const got: number[] = []
    const read = async (): Promise<void> => {
      for await (const { seq } of events) got.push(seq)
    }
    await expect(read()).rejects.toMatchObject({ code: 'SLOW_READER', retryable: true })
    expect(got).toEqual([0, 1])
    expect(await connection.hello()).toEqual({ type: 'hello' })
    await connection.close()
  })

  it('A client subscription with a filter requests these types, and the types that the connection needs', async () => {
    const { sockets, connection } = connected()
    const events = collect(connection.subscribe({ runId: RUN_ID, events: ['token'] }))
    const socket = await sockets.socket(0)
    begin(socket)
    expect(socket.sent[0]).toEqual({
      type: 'subscribe',
      requestId: '1',
      events: ['token', 'run_result'],
      runId: RUN_ID,
      from: 0,
      repeats: 'omit',
    })
    for (const event of LOG) if (event.type !== 'run_queued') socket.say(event)
    expect((await events).map(({ type }) => type)).toEqual(['token', 'token', 'token'])
    await connection.close()
  })

  it('[CLIENT-S3] A client subscription to every run skips returned events, and reports a review once', async () => {
    const { sockets, connection } = connected()
    const seqs: number[] = []
    connection.subscribe({ onEvent: ({ seq }) => void seqs.push(seq) })
    const events = logged([token('a'), token('b'), RESULT])
    const first = await sockets.socket(0)
    begin(first)
    for (const event of events.slice(0, 2)) first.say(event)
    first.lose()
    const second = await sockets.socket(1)
    begin(second)
    for (const event of events) second.say(event)
    expect(seqs).toEqual([0, 1, 2])
    await connection.close()
  })

  it.each([
    [{ events: [] }, TypeError],
    [{ from: 3 }, TypeError],
    [{ runId: RUN_ID, from: 0.5 }, RangeError],
  ])('A client subscription rejects %j', async (options, error) => {
    const { connection } = connected()
    expect(() => connection.subscribe(options)).toThrow(error)
    await connection.close()
  })

  it('[CLIENT-C3] A client subscription ends when the connection is closed, with the error if it failed', async () => {
    const { sockets, connection } = connected()
    const plain = collect(connection.subscribe({ runId: RUN_ID }))
    begin(await sockets.socket(0))
    await connection.close()
    expect(await plain).toEqual([])
    const other = connected()
    const failed = expect(
      collect(other.connection.subscribe({ runId: RUN_ID })),
    ).rejects.toMatchObject({ code: 'BAD_RESPONSE' })
    const socket = await other.sockets.socket(0)
    begin(socket)
    socket.raw(new ArrayBuffer(1))
    await failed
  })
})

describe('a platform that cannot set headers', () => {
  it('A platform that cannot set headers fetches a ticket with the key for each socket', async () => {
    const asked: string[] = []
    let n = 0
    const { WebSocket: ofNode } = globalThis
    const { versions } = process
    const sockets = fakeSockets()
    const Page = function (url: string) {
      return sockets.open(url, { headers: {} })
    }
    Object.assign(globalThis, { WebSocket: Page })
    Object.defineProperty(process, 'versions', { value: {}, configurable: true })
    try {
      const client = createClient({
        baseUrl: 'https://tutti.example',
        apiKey: 'k-1',
        clock: recordingClock({ skipUpToMs: 10_000 }),
        fetch(url, { method }) {
          asked.push(`${method} ${url}`)
          n += 1
          // A server without keys has no tickets, and requires none.
          if (n === 3) return Promise.resolve(Response.json(NO_KEYS, { status: 503 }))
          const expiresAt = '2026-01-01T00:00:00.000Z'
          return Promise.resolve(Response.json({ ticket: `t ${n}`, expiresAt }, { status: 201 }))
        },
      })
      const connection = client.connect({ snapshot: 'none' })
      const first = await sockets.socket(0)
      begin(first)
      first.lose()
      const second = await sockets.socket(1)
      begin(second)
      second.lose()
      await sockets.socket(2)
      expect(sockets.all.map(({ url }) => url)).toEqual([
        'wss://tutti.example/ws?ticket=t+1&snapshot=none',
        'wss://tutti.example/ws?ticket=t+2&snapshot=none',
        'wss://tutti.example/ws?snapshot=none',
      ])
      expect(new Set(asked)).toEqual(new Set(['POST https://tutti.example/api/tickets']))
      await connection.close()
    } finally {
      Object.assign(globalThis, { WebSocket: ofNode })
      Object.defineProperty(process, 'versions', { value: versions, configurable: true })
    }
  })

  it('A platform that cannot set headers reports a solution if there is no WebSocket', () => {
    const { WebSocket: ofNode } = globalThis
    Object.assign(globalThis, { WebSocket: undefined })
    try {
      const client = createClient({ baseUrl: 'http://tutti.example' })
      expect(() => client.connect()).toThrow('pass openSocket, or use Node 22 or later')
    } finally {
      Object.assign(globalThis, { WebSocket: ofNode })
    }
  })
})

/** Appends the events of a loop to `into` as they arrive. */
async function collectInto(into: unknown[], events: AsyncIterable<unknown>): Promise<void> {
  for await (const event of events) into.push(event)
}

/** Completed turn without its text. */
const TURN = {
  type: 'llm_iteration_completed',
  agentRole: 'Writer',
  taskDescription: 'Write',
  iterationIndex: 0,
  responseType: 'FINAL_ANSWER',
  inputTokens: 1,
  outputTokens: 1,
  latencyMs: 1,
  taskName: 'write',
  taskIndex: 1,
  attempt: 1,
  model: 'small',
  completedAt: '2026-01-01T00:00:00.000Z',
  finishReason: 'stop',
} as const
