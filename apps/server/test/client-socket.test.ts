/** A WebSocket connection of `@tutti/client` to a real control API. */
import { createClient, type LoggedRunEventOf } from '@tutti/client'
import { describe, expect, it } from 'vitest'

import { CONDUCTOR, KEY, stage, type Stage, type StageOptions } from './client-stage.ts'

import type {
  ConnectionState,
  ConnectOptions,
  RunSubscription,
  TuttiConnection,
} from '@tutti/client'
import type { LoggedRunEvent } from '@tutti/protocol'

const BACH = { inputs: { composer: 'Bach' } }

interface Connected extends AsyncDisposable {
  readonly api: Stage
  readonly client: ReturnType<typeof createClient>
  readonly connection: TuttiConnection
  readonly states: ConnectionState[]
}

/** A stage and a connection to it. */
async function connected(
  options: StageOptions = {},
  connectOptions: ConnectOptions = {},
): Promise<Connected> {
  const api = await stage(options)
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
  it('greets, with a key too, and is counted until it is closed', async () => {
    await using on = await connected({ apiKeys: [CONDUCTOR] })
    expect(await on.connection.hello()).toMatchObject({ type: 'hello' })
    expect((await on.client.status()).clients).toBe(1)
    await on.connection.close()
    await expect.poll(async () => (await on.client.status()).clients).toBe(0)
    expect(on.states.map(({ status }) => status)).toEqual(['open', 'closed'])
    await expect(on.connection.listRuns()).rejects.toMatchObject({ code: 'ABORTED' })
    await expect(on.connection.hello()).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('ends with what HTTP says when its key or its run is unknown', async () => {
    await using on = await connected({ apiKeys: [CONDUCTOR] })
    const ends: unknown[] = []
    const onConnection = (state: ConnectionState): void => {
      if (state.status === 'closed') ends.push(state.error)
    }
    const stranger = createClient({ baseUrl: on.api.url, apiKey: 'wrong' })
    await using refused = stranger.connect({ onConnection })
    await expect(refused.hello()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    await using lost = on.client.connect({ runId: 'none', onConnection })
    await expect(lost.listRuns()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    expect(ends).toMatchObject([{ code: 'UNAUTHORIZED' }, { code: 'RUN_NOT_FOUND' }])
  })

  it('answers what REST answers', async () => {
    await using on = await connected()
    const { client, connection } = on
    const { runId } = await client.runs.run({ ensemble: 'soloist', ...BACH })
    expect(await connection.listRuns({ limit: 5 })).toEqual(await client.runs.list())
    expect(await connection.getRun(runId)).toEqual(await client.runs.get(runId))
    expect(await connection.capabilities()).toEqual(await client.capabilities())
    await expect(connection.getRun('none')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    await expect(connection.listRuns({ limit: 0 })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      problems: [{ path: '/filter/limit' }],
    })
  })

  it('calls shared tools', async () => {
    await using on = await connected()
    const { connection } = on
    expect(await connection.invokeTool('add', { a: 2, b: 3 })).toMatchObject({
      status: 'COMPLETED',
      result: '5',
    })
    expect(await connection.invokeTool('fail', {})).toMatchObject({ status: 'FAILED' })
    await expect(connection.invokeTool('none', '')).rejects.toMatchObject({
      code: 'TOOL_NOT_FOUND',
    })
  })
})

describe('a run over a connection', () => {
  it('is submitted at level 3, followed with its tokens, and its result comes', async () => {
    await using on = await connected()
    const { api, connection } = on
    const types = new Set<string>()
    const heard = connection.subscribe({ onEvent: ({ type }) => void types.add(type) })
    const run = await connection.run({
      tasks: [{ name: 'a', description: 'Play {piece}', tools: ['wait'], model: 'large' }],
      inputs: { piece: 'a fugue' },
    })
    expect(run).toMatchObject({ status: 'ACCEPTED', tasks: 1 })
    await api.untilWaiting()
    api.play()
    expect(await run.result()).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ taskName: 'a', output: 'It was played in full, says large' }],
    })
    expect([...types]).toEqual(
      expect.arrayContaining(['run_queued', 'task_started', 'token', 'tool_called', 'run_result']),
    )
    heard.close()
  })

  it('is refused with the code that REST gives', async () => {
    await using on = await connected({ maxQueuedRuns: 0 })
    const { connection } = on
    await expect(connection.run({ ensemble: 'none' })).rejects.toMatchObject({
      code: 'INVALID_ENSEMBLE',
    })
    await connection.run(BACH)
    await expect(connection.run(BACH)).rejects.toMatchObject({ code: 'CONCURRENCY_LIMIT' })
  })

  it('is steered and cancelled', async () => {
    await using on = await connected()
    const { api, connection } = on
    const run = await connection.run(BACH)
    const { runId } = run
    await api.untilWaiting()
    expect(await connection.switchModel(runId, 'large')).toMatchObject({ status: 'APPLIED' })
    expect(await connection.switchModel(runId, { tier: 'primary' })).toMatchObject({
      status: 'APPLIED',
      tier: 'PRIMARY',
    })
    const action = { action: 'SET_MODEL_TIER', value: 'PRIMARY' } as const
    expect(await connection.inject(action, { runId })).toMatchObject({ status: 'accepted' })
    expect(await connection.inject('Louder', { runId })).toMatchObject({ status: 'accepted' })
    await expect(connection.switchModel(runId, 'huge')).rejects.toMatchObject({
      code: 'INVALID_MODEL',
    })
    await expect(connection.inject('x', { runId, target: 'nobody' })).rejects.toMatchObject({
      code: 'REFUSED',
    })
    expect(await connection.cancel(runId, { mode: 'abort' })).toMatchObject({
      status: 'CANCELLING',
    })
    expect(await run.result()).toMatchObject({ status: 'CANCELLED' })
    await expect(connection.cancel('none')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  it('waits for a review, which is decided once', async () => {
    await using on = await connected()
    const { client, connection } = on
    const asked = connection.subscribe({ events: ['review_requested'] })
    const run = await connection.run({ ensemble: 'panel', ...BACH })
    let review: LoggedRunEventOf<'review_requested'> | undefined
    for await (const event of asked) {
      review = event
      break
    }
    const reviewId = review?.reviewId ?? ''
    expect(await connection.decide(reviewId, { decision: 'CONTINUE' })).toMatchObject({
      reviewId,
      decision: 'CONTINUE',
    })
    expect(await run.result()).toMatchObject({ status: 'COMPLETED' })
    await expect(connection.decide(reviewId, { decision: 'CONTINUE' })).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
    await expect(connection.decide('none', { decision: 'CONTINUE' })).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
    })
    expect((await client.reviews.list()).total).toBe(0)
  })

  it('gives its result also when its connection was cut', async () => {
    await using on = await connected()
    const { api, connection, states } = on
    const run = await connection.run(BACH)
    await api.untilWaiting()
    api.cut()
    await expect.poll(() => states.map(({ status }) => status)).toContain('reconnecting')
    api.play()
    expect(await run.result()).toMatchObject({ status: 'COMPLETED', runId: run.runId })
  })
})

describe('a subscription', () => {
  it('gives a run from its first event to its end, and equals the event stream', async () => {
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

  it('goes on without gap or repeat over cuts, and says so', async () => {
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

  it('gives the last events, or some types, of a connection to one run', async () => {
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

  it('fails when there is no such run or place; the connection stays', async () => {
    await using on = await connected()
    const { client, connection } = on
    await expect(collect(connection.subscribe({ runId: 'none' }))).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    })
    const { runId } = await client.runs.run({ ensemble: 'soloist', ...BACH })
    await expect(collect(connection.subscribe({ runId, from: 10_000 }))).rejects.toMatchObject({
      code: 'CURSOR_PAST_END',
    })
    expect((await connection.listRuns()).total).toBe(1)
    expectWhole(await collect(connection.subscribe({ runId })))
  })

  it('takes the place of the one before, which ends', async () => {
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

  it('without a snapshot is told nothing of the past, and what it subscribes to from then on', async () => {
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
    const run = await late.run({ ensemble: 'soloist', ...BACH })
    expect(await run.result()).toMatchObject({ status: 'COMPLETED' })
    expect(heard.map(({ type, runId }) => [type, runId])).toEqual([['task_completed', run.runId]])
    api.cut()
    expect(Object.keys(await late.hello())).toEqual(['type', 'sharedCapabilities'])
    expectWhole(await collect(late.subscribe({ runId: run.runId })))
  })

  it('without a snapshot decides reviews all the same', async () => {
    await using on = await connected()
    const { client } = on
    await using connection = client.connect({ snapshot: 'none' })
    const run = await connection.run({ ensemble: 'panel', ...BACH })
    await expect.poll(async () => (await client.reviews.list()).total).toBe(1)
    const [review] = (await client.reviews.list()).reviews
    const decided = await connection.decide(review?.reviewId ?? '', { decision: 'EXIT_EARLY' })
    expect(decided).toMatchObject({ type: 'review_decided', runId: run.runId })
    expect(await run.result()).toMatchObject({ runId: run.runId })
  })

  it('to every run tells a late reader of the review that waits, once', async () => {
    await using on = await connected()
    const { api, client, connection } = on
    const { runId } = await client.runs.submit({ ensemble: 'panel', ...BACH })
    await expect.poll(async () => (await client.reviews.list()).total).toBe(1)
    const heard: LoggedRunEvent[] = []
    await using late = client.connect()
    late.subscribe({ onEvent: (event) => void heard.push(event) })
    await expect.poll(() => heard.map(({ type }) => type)).toEqual(['review_requested'])
    api.cut()
    await connection.listRuns()
    const review = (await client.reviews.list({ runId })).reviews[0]
    await late.listRuns()
    await late.decide(review?.reviewId ?? '', { decision: 'EXIT_EARLY' })
    await expect.poll(() => heard.at(-1)?.type).toBe('run_result')
    expect(heard.filter(({ type }) => type === 'review_requested')).toHaveLength(1)
  })
})
