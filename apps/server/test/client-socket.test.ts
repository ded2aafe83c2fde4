/** Tests WebSocket connections of `@tutti/client` to a real control API. */
import { createClient, type LoggedRunEventOf } from '@tutti/client'
import { describe, expect, it } from 'vitest'

import {
  ADMIN,
  KEY,
  openClientServer,
  type ClientServer,
  type ClientServerOptions,
} from './client-server.ts'

import type {
  ConnectionState,
  ConnectOptions,
  RunSubscription,
  TuttiConnection,
} from '@tutti/client'
import type { LoggedRunEvent } from '@tutti/protocol'

const BACH = { inputs: { composer: 'Bach' } }

interface Connected extends AsyncDisposable {
  readonly api: ClientServer
  readonly client: ReturnType<typeof createClient>
  readonly connection: TuttiConnection
  readonly states: ConnectionState[]
}

/** A control API and a connection to it. */
async function connected(
  options: ClientServerOptions = {},
  connectOptions: ConnectOptions = {},
): Promise<Connected> {
  const api = await openClientServer(options)
  const client = createClient({
    baseUrl: api.url,
    reconnect: { baseDelayMs: 1 },
    ...(options.apiKeys === undefined ? {} : { apiKey: KEY }),
  })
  const states: ConnectionState[] = []
  const connection = client.connect({
    onConnection: (state) => void states.push(state),
    ...connectOptions,
  })
  return {
    api,
    client,
    connection,
    states,
    async [Symbol.asyncDispose]() {
      await connection.close()
      await api[Symbol.asyncDispose]()
    },
  }
}

async function collect(events: RunSubscription): Promise<LoggedRunEvent[]> {
  const collected: LoggedRunEvent[] = []
  for await (const event of events) collected.push(event)
  return collected
}

function expectWhole(events: readonly LoggedRunEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  expect(events.at(-1)?.type).toBe('run_result')
}

describe('a connection', () => {
  it('A client connection greets the server, also with a key, and counts as open until it is closed', async () => {
    await using on = await connected({ apiKeys: [ADMIN] })
    expect(await on.connection.hello()).toMatchObject({ type: 'hello' })
    expect((await on.client.status()).clients).toBe(1)
    await on.connection.close()
    await expect.poll(async () => (await on.client.status()).clients).toBe(0)
    expect(on.states.map(({ status }) => status)).toEqual(['open', 'closed'])
    await expect(on.client.runs.cancel('run-1', { over: on.connection })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    await expect(on.connection.hello()).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('A client connection fails with the HTTP error for an unknown key or run', async () => {
    await using on = await connected({ apiKeys: [ADMIN] })
    const ends: unknown[] = []
    const onConnection = (state: ConnectionState): void => {
      if (state.status === 'closed') ends.push(state.error)
    }
    const stranger = createClient({ baseUrl: on.api.url, apiKey: 'wrong' })
    await using refused = stranger.connect({ onConnection })
    await expect(refused.hello()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    await using lost = on.client.connect({ runId: 'none', onConnection })
    await expect(lost.hello()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    expect(ends).toMatchObject([{ code: 'UNAUTHORIZED' }, { code: 'RUN_NOT_FOUND' }])
  })
})

describe('commands over a connection', () => {
  it('Commands over a connection steer and cancel a run', async () => {
    await using on = await connected()
    const { api, client, connection: over } = on
    const { runId } = await client.runs.submit(BACH)
    await api.untilWaiting()
    const { runs } = client
    expect(await runs.switchModel(runId, 'large', { over })).toMatchObject({ status: 'APPLIED' })
    expect(await runs.switchModel(runId, { tier: 'primary' }, { over })).toMatchObject({
      status: 'APPLIED',
      tier: 'PRIMARY',
    })
    const action = { action: 'SET_MODEL_TIER', value: 'PRIMARY' } as const
    expect(await runs.inject(runId, action, { over })).toMatchObject({ status: 'ACTIVE' })
    expect(await runs.inject(runId, 'Louder', { over })).toMatchObject({ status: 'ACTIVE' })
    await expect(runs.switchModel(runId, 'huge', { over })).rejects.toMatchObject({
      code: 'INVALID_MODEL',
    })
    await expect(runs.inject(runId, 'x', { target: 'nobody', over })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    expect(await runs.cancel(runId, { mode: 'abort', over })).toEqual({
      runId,
      status: 'CANCELLING',
    })
    expect(await runs.result(runId)).toMatchObject({ status: 'CANCELLED' })
    await expect(runs.cancel('none', { over })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  it('Commands over a connection decide a review once', async () => {
    await using on = await connected()
    const { client, connection } = on
    const options = { over: connection }
    const { runId } = await client.runs.submit({ ensemble: 'panel', ...BACH })
    const asked = connection.subscribe({ runId, events: ['review_requested'] })
    let review: LoggedRunEventOf<'review_requested'> | undefined
    for await (const event of asked) {
      review = event
      break
    }
    const reviewId = review?.reviewId ?? ''
    const decision = { decision: 'CONTINUE' } as const
    expect(await client.reviews.decide(reviewId, decision, options)).toEqual({
      reviewId,
      decision: 'CONTINUE',
      status: 'APPLIED',
    })
    expect(await client.runs.result(runId)).toMatchObject({ status: 'COMPLETED' })
    await expect(client.reviews.decide(reviewId, decision, options)).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
    await expect(client.reviews.decide('none', decision, options)).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
    })
    expect((await client.reviews.list()).total).toBe(0)
  })
})

describe('a subscription', () => {
  it('A client subscription returns the same events as the event stream, from first to last', async () => {
    await using on = await connected()
    const { api, client, connection } = on
    const { runId } = await client.runs.submit(BACH)
    await api.untilWaiting()
    const events = collect(connection.subscribe({ runId }))
    api.play()
    const whole = await events
    expectWhole(whole)
    const streamed: LoggedRunEvent[] = []
    for await (const event of client.runs.events(runId)) streamed.push(event)
    expect(whole).toEqual(streamed)
  })

  it('A client subscription continues without gaps or repetitions after cuts, and reports its state', async () => {
    await using on = await connected()
    const { api, client, connection, states } = on
    const opened = () => states.filter(({ status }) => status === 'open').length
    await connection.hello()
    const { runId } = await client.runs.submit(BACH)
    const collected: LoggedRunEvent[] = []
    const over = new Promise<unknown>((resolve) => {
      connection.subscribe({
        runId,
        onEnd: resolve,
        onEvent(event) {
          collected.push(event)
          if (event.seq === 1) api.cut()
        },
      })
    })
    await expect.poll(opened).toBe(2)
    await api.untilWaiting()
    for (const count of [3, 4]) {
      api.cut()
      await expect.poll(opened).toBe(count)
    }
    api.play()
    expect(await over).toBeUndefined()
    expectWhole(collected)
    const resumed = states.filter(({ status }) => status === 'reconnecting')
    expect(resumed).toHaveLength(3)
    expect(resumed.every(({ lastEventId }) => lastEventId?.startsWith(runId))).toBe(true)
  })

  it('A client subscription returns the last events, or selected types, on a connection for one run', async () => {
    await using on = await connected()
    const { client } = on
    const { runId } = await client.runs.run({ ensemble: 'soloist', ...BACH })
    await using connection = client.connect({ runId })
    const last = await collect(connection.subscribe({ from: -2 }))
    expect(last.map(({ type }) => type)).toEqual(['ensemble_completed', 'run_result'])
    const types: string[] = []
    for await (const { type } of connection.subscribe({ events: ['task_completed'] })) {
      types.push(type)
    }
    expect(types).toEqual(['task_completed'])
  })

  it('A client subscription fails for an unknown run or position, while the connection stays open', async () => {
    await using on = await connected()
    const { client, connection } = on
    await expect(collect(connection.subscribe({ runId: 'none' }))).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    })
    const { runId } = await client.runs.run({ ensemble: 'soloist', ...BACH })
    await expect(collect(connection.subscribe({ runId, from: 10_000 }))).rejects.toMatchObject({
      code: 'CURSOR_PAST_END',
    })
    expectWhole(await collect(connection.subscribe({ runId })))
  })

  it('A client subscription replaces and ends the previous one', async () => {
    await using on = await connected()
    const { api, client, connection } = on
    const { runId } = await client.runs.submit(BACH)
    await api.untilWaiting()
    const ends: unknown[] = []
    const first = connection.subscribe({ runId, onEnd: (error) => void ends.push(error) })
    const second = collect(connection.subscribe({ runId }))
    await collect(first)
    api.play()
    expectWhole(await second)
    expect(ends).toEqual([undefined])
  })

  it('A client subscription without a snapshot receives only later events', async () => {
    await using on = await connected()
    const { api, client } = on
    await client.runs.run({ ensemble: 'soloist', ...BACH })
    await using late = client.connect({ snapshot: 'none' })
    expect(Object.keys(await late.hello())).toEqual(['type', 'sharedCapabilities'])
    const heard: LoggedRunEvent[] = []
    late.subscribe({
      events: ['task_completed'],
      onEvent: (event) => void heard.push(event),
    })
    // The command is sent after the subscription has taken effect.
    await expect(client.runs.cancel('none', { over: late })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    })
    const { runId } = await client.runs.run({ ensemble: 'soloist', ...BACH })
    await expect
      .poll(() => heard.map((event) => [event.type, event.runId]))
      .toEqual([['task_completed', runId]])
    api.cut()
    expect(Object.keys(await late.hello())).toEqual(['type', 'sharedCapabilities'])
    expectWhole(await collect(late.subscribe({ runId })))
  })

  it('A client subscription without a snapshot can still decide reviews', async () => {
    await using on = await connected()
    const { client } = on
    await using connection = client.connect({ snapshot: 'none' })
    const { runId } = await client.runs.submit({ ensemble: 'panel', ...BACH })
    await expect.poll(async () => (await client.reviews.list()).total).toBe(1)
    const [review] = (await client.reviews.list()).reviews
    await client.reviews.decide(
      review?.reviewId ?? '',
      { decision: 'EXIT_EARLY' },
      { over: connection },
    )
    expect(await client.runs.result(runId)).toMatchObject({ runId })
  })

  it('A client subscription to all runs reports an open review once to a late reader', async () => {
    await using on = await connected()
    const { api, client } = on
    const { runId } = await client.runs.submit({ ensemble: 'panel', ...BACH })
    await expect.poll(async () => (await client.reviews.list()).total).toBe(1)
    const heard: LoggedRunEvent[] = []
    await using late = client.connect()
    late.subscribe({ onEvent: (event) => void heard.push(event) })
    await expect.poll(() => heard.map(({ type }) => type)).toEqual(['review_requested'])
    api.cut()
    const review = (await client.reviews.list({ runId })).reviews[0]
    await client.reviews.decide(review?.reviewId ?? '', { decision: 'EXIT_EARLY' }, { over: late })
    await expect.poll(() => heard.at(-1)?.type).toBe('run_result')
    expect(heard.filter(({ type }) => type === 'review_requested')).toHaveLength(1)
  })
})
