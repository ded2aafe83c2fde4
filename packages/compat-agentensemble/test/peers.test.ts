import { createHash } from 'node:crypto'

import { apiKey } from '@tutti/control-api'
import { defineTextTool, toolCatalog } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { decodeServerMessage, type ServerMessage } from '@tutti/protocol'
import type { CapabilityResponse } from '@tutti/protocol/internal'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { reviewedTask } from '../../control-api/test/reviewed-ensembles.ts'
import {
  eventsOf,
  openServer,
  type TestServer,
  type TestServerOptions,
  type Socket,
} from '../../control-api/test/open-server.ts'

const BAND = '{"composer":"Bach","hall":"A"}'

/** Returns a task request of the kitchen for the band, the ensemble that waits for the test. */
function request(more: object = {}): object {
  return {
    type: 'task_request',
    requestId: 'r-1',
    from: 'kitchen',
    task: 'band',
    context: BAND,
    ...more,
  }
}

/** Ensemble with one variable whose model repeats its input and counts. */
function echo() {
  let calls = 0
  const model = scriptedModel(() => `Answer ${(calls += 1)}`)
  const say = task({ name: 'say', description: 'Say {text}' })
  return ensemble({ name: 'echo', description: 'Says it', tasks: [say], model })
}

async function connectPeer(api: TestServer): Promise<Socket> {
  const socket = api.connect()
  await socket.next('hello')
  return socket
}

/** Sends a request over a new connection, and returns the last reply. */
async function ask(api: TestServer, message: object) {
  await using socket = await connectPeer(api)
  socket.send(message)
  return await socket.next('task_response')
}

/** Returns the replies to peers in order. */
function replies({ received }: Socket): readonly ServerMessage[] {
  return received.filter(({ type }) => type.startsWith('task_') && !type.startsWith('task_s'))
}

/** Returns the runs with the fields that the list omits. */
async function recordsOf(api: TestServer) {
  const { runs } = await runsOf(api)
  return Promise.all(runs.map(({ runId }) => api.runs.record(runId)))
}

function runsOf(api: TestServer) {
  return api.runs.list({ limit: 10, offset: 0 })
}

describe('task_request', () => {
  it('[AE-T1] task_request is accepted at once, reports progress, and ends with the last output', async () => {
    await using api = await openServer()
    await using socket = await connectPeer(api)
    socket.send(request())
    expect(await socket.next('task_accepted')).toEqual({
      type: 'task_accepted',
      requestId: 'r-1',
      runId: expect.any(String),
      queuePosition: expect.any(Number),
    })
    expect(await socket.next('task_progress')).toEqual({
      type: 'task_progress',
      requestId: 'r-1',
      status: 'RUNNING',
      message: '"tune" completed: 1 of 2',
      percentComplete: 50,
    })
    expect(socket.received.some(({ type }) => type === 'task_response')).toBe(false)
    api.play()
    expect(await socket.next('task_response')).toEqual({
      type: 'task_response',
      requestId: 'r-1',
      status: 'COMPLETED',
      result: 'It was played in full',
      durationMs: expect.any(Number),
    })
    const types = socket.received.map(({ type }) => type)
    const order = types.filter((type) =>
      ['task_accepted', 'task_progress', 'task_response'].includes(type),
    )
    expect(order).toEqual(['task_accepted', 'task_progress', 'task_progress', 'task_response'])
    for (const message of replies(socket))
      expect(decodeServerMessage(message)).toMatchObject({ ok: true })
  })

  it('[AE-T1] task_request is accepted with the id of its run, by which it can be cancelled', async () => {
    await using api = await openServer()
    await using socket = await connectPeer(api)
    socket.send(request())
    const { runId = '' } = await socket.next('task_accepted')
    expect((await runsOf(api)).runs).toMatchObject([{ runId }])
    socket.send({ type: 'run_control', runId, action: 'cancel' })
    expect(await socket.next('task_response')).toMatchObject({
      requestId: 'r-1',
      status: 'FAILED',
      error: 'The run was cancelled',
    })
  })

  it('task_request is an ordinary run, with the peer among its tags', async () => {
    await using api = await openServer()
    api.play()
    await ask(api, request({ priority: 'HIGH', traceContext: { traceparent: '00-1-2-01' } }))
    expect(await recordsOf(api)).toMatchObject([
      {
        ensemble: 'band',
        status: 'COMPLETED',
        inputs: { composer: 'Bach', hall: 'A' },
        tags: { peer: 'kitchen' },
      },
    ])
  })

  it('task_request accepts text for an ensemble with one variable', async () => {
    await using api = await openServer({ ensembles: [echo()] })
    const end = await ask(api, request({ task: 'echo', context: 'Guten Tag' }))
    expect(end).toMatchObject({ status: 'COMPLETED', result: 'Answer 1' })
    expect(await recordsOf(api)).toMatchObject([{ inputs: { text: 'Guten Tag' } }])
  })

  it.each<[string, object, string]>([
    [
      'an unknown task',
      { task: 'bant' },
      "INVALID_ENSEMBLE: Unknown shared task 'bant'. Available: [band]. Did you mean 'band'?",
    ],
    ['text for an ensemble with several variables', { context: 'Play' }, 'fields composer, hall'],
    ['no context', { context: undefined }, '/composer is required'],
    ['an unknown delivery', { delivery: { method: 'QUEUE' } }, '/delivery/method must be'],
    ['an invalid deadline', { deadline: 'PT0S' }, '/deadline must be'],
    ['a cache without a key', { cachePolicy: 'USE_CACHED' }, '/cacheKey is required'],
  ])('task_request is rejected for %s, and starts no run', async (_title, more, why) => {
    await using api = await openServer()
    const end = await ask(api, request(more))
    expect(end).toMatchObject({
      requestId: 'r-1',
      status: 'REJECTED',
      error: expect.stringContaining(why),
    })
    expect((await runsOf(api)).total).toBe(0)
    expect(api.errors).toEqual([])
  })

  it('task_request is rejected when too many runs are queued', async () => {
    await using api = await openServer({ limits: { maxConcurrentRuns: 1, maxQueuedRuns: 1 } })
    await api.submit()
    await using socket = await connectPeer(api)
    socket.send(request())
    await socket.next('task_accepted')
    expect(await ask(api, request({ requestId: 'r-2' }))).toMatchObject({
      requestId: 'r-2',
      status: 'REJECTED',
      error: expect.stringMatching(/^CONCURRENCY_LIMIT: /),
    })
  })

  it('task_request reports the number of runs queued before it', async () => {
    await using api = await openServer({ limits: { maxConcurrentRuns: 1, maxQueuedRuns: 9 } })
    const runId = await api.submit()
    for await (const batch of api.runs.follow({ runId, from: 0 })) {
      if (batch.some(({ type }) => type === 'ensemble_started')) break
    }
    await api.submit()
    await api.submit()
    await using socket = await connectPeer(api)
    socket.send(request())
    expect(await socket.next('task_accepted')).toMatchObject({ queuePosition: 2 })
  })

  it('task_request reaches only shared ensembles', async () => {
    await using api = await openServer({
      ensembles: [reviewedTask(), echo()],
      shared: { ensembles: ['echo'] },
    })
    expect(await ask(api, request({ task: 'choir', context: 'Ode' }))).toMatchObject({
      status: 'REJECTED',
      error: "INVALID_ENSEMBLE: Unknown shared task 'choir'. Available: [echo]",
    })
  })

  it('task_request reports that it waits for a person', async () => {
    await using api = await openServer({ ensembles: [reviewedTask()] })
    await using socket = await connectPeer(api)
    socket.send(request({ task: 'choir', context: 'Ode' }))
    expect(await socket.next('task_progress')).toMatchObject({
      status: 'WAITING_REVIEW',
      message: '"sing" is waiting for a review',
    })
    const [open] = await api.runs.reviews.open()
    const { runId, reviewId } = open ?? expect.fail('no review is open')
    const decision = { action: 'CONTINUE' } as const
    await api.runs.send(runId, { kind: 'decide', reviewId, decision })
    expect(await socket.next('task_response')).toMatchObject({ status: 'COMPLETED' })
  })

  it('task_request reports a run that FAILED, and one that was cancelled', async () => {
    const model = scriptedModel(() => {
      throw new Error('No voice')
    })
    const sing = task({ name: 'sing', description: 'Sing {song}' })
    const mute = ensemble({ name: 'mute', tasks: [sing], model })
    await using api = await openServer({ ensembles: [mute, reviewedTask()] })
    expect(await ask(api, request({ task: 'mute', context: 'Ode' }))).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('No voice'),
    })
    await using socket = await connectPeer(api)
    socket.send(request({ requestId: 'r-2', task: 'choir', context: 'Ode' }))
    await socket.next('task_progress')
    const [review] = await api.runs.reviews.open()
    await api.runs.send(review?.runId ?? '', { kind: 'cancel' })
    expect(await socket.next('task_response')).toMatchObject({
      status: 'FAILED',
      error: 'The run was cancelled',
    })
  })

  it('[AE-T2] task_request is one run however often it is sent, also after the connection closed', async () => {
    await using api = await openServer()
    const first = await connectPeer(api)
    first.send(request())
    await first.next('task_progress')
    await first[Symbol.asyncDispose]()
    await using second = await connectPeer(api)
    second.send(request())
    await second.next('task_accepted')
    api.play()
    const end = await second.next('task_response')
    expect(end).toMatchObject({ status: 'COMPLETED', result: 'It was played in full' })
    // After its end, only the response is sent, without progress.
    await using third = await connectPeer(api)
    third.send(request())
    expect(await third.next('task_response')).toEqual(end)
    expect(third.received.map(({ type }) => type)).not.toContain('task_progress')
    expect((await runsOf(api)).total).toBe(1)
  })

  it('[AE-T2] task_request is another run for another peer, and a conflict with another content', async () => {
    await using api = await openServer({ ensembles: [echo()] })
    const one = request({ task: 'echo', context: 'Hello' })
    expect(await ask(api, one)).toMatchObject({ result: 'Answer 1' })
    expect(await ask(api, { ...one, from: 'cellar' })).toMatchObject({ result: 'Answer 2' })
    expect(await ask(api, { ...one, context: 'Bye' })).toMatchObject({
      status: 'REJECTED',
      error: expect.stringMatching(/^IDEMPOTENCY_CONFLICT: /),
    })
  })

  it('[AE-T2] task_request accepts ids of up to 200 characters of any kind', async () => {
    await using api = await openServer({ ensembles: [echo()] })
    const requestId = `${'x'.repeat(198)} ü`
    const odd = request({ requestId, from: 'küche\u2028', task: 'echo', context: 'Hello' })
    expect(await ask(api, odd)).toMatchObject({ requestId, result: 'Answer 1' })
    expect(await ask(api, odd)).toMatchObject({ requestId, result: 'Answer 1' })
  })

  it('[AE-T3] task_request is cancelled at its deadline, also after the peer has left', async () => {
    const clock = fakeClock()
    await using api = await openServer({ clock, limits: { clock } })
    const late = request({ deadline: 'PT10S' })
    const first = await connectPeer(api)
    first.send(late)
    await first.next('task_progress')
    await first[Symbol.asyncDispose]()
    const [run] = (await runsOf(api)).runs
    await clock.advance(9_999)
    expect((await api.runs.get(run?.runId ?? ''))?.run.status).toBe('RUNNING')
    await clock.advance(1)
    await eventsOf(await api.get(`/api/runs/${run?.runId}/events`))
    expect(await ask(api, late)).toMatchObject({
      status: 'FAILED',
      error: 'The run was cancelled: its deadline passed',
    })
  })

  it('[AE-T3] task_request gets its response at its deadline', async () => {
    const clock = fakeClock()
    await using api = await openServer({ clock, limits: { clock } })
    await using socket = await connectPeer(api)
    socket.send(request({ deadline: 'PT10S' }))
    await socket.next('task_progress')
    await clock.advance(10_000)
    expect(await socket.next('task_response')).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('deadline'),
    })
  })

  it('[AE-T3] task_request is not cancelled while a person decides', async () => {
    const clock = fakeClock()
    const choir = reviewedTask({ timeoutMs: 3_600_000 })
    await using api = await openServer({ ensembles: [choir], clock, limits: { clock } })
    await using socket = await connectPeer(api)
    socket.send(request({ task: 'choir', context: 'Ode', deadline: 'PT10S' }))
    await expect.poll(() => api.runs.reviews.countOpen()).toBe(1)
    for (let minute = 0; minute < 10; minute += 1) await clock.advance(60_000)
    const [review] = await api.runs.reviews.open()
    const decided = { kind: 'decide', reviewId: review?.reviewId ?? '' } as const
    await api.runs.send(review?.runId ?? '', { ...decided, decision: { action: 'CONTINUE' } })
    expect(await socket.next('task_response')).toMatchObject({ status: 'COMPLETED' })
  })

  it('[AE-T3] task_request does not count as late when it was cancelled before its deadline', async () => {
    const clock = fakeClock()
    await using api = await openServer({ ensembles: [reviewedTask()], clock, limits: { clock } })
    const early = request({ task: 'choir', context: 'Ode', deadline: 'PT10S' })
    await using socket = await connectPeer(api)
    socket.send(early)
    await socket.next('task_progress')
    const [review] = await api.runs.reviews.open()
    await api.runs.send(review?.runId ?? '', { kind: 'cancel' })
    const end = await socket.next('task_response')
    expect(end.error).toBe('The run was cancelled')
    await clock.advance(20_000)
    expect(await ask(api, early)).toEqual(end)
  })

  it('[AE-T3] task_request is not cancelled when it ends before its deadline', async () => {
    const clock = fakeClock()
    await using api = await openServer({ ensembles: [echo()], clock, limits: { clock } })
    const end = await ask(api, request({ task: 'echo', context: 'Hello', deadline: 'PT10S' }))
    expect(end).toMatchObject({ status: 'COMPLETED' })
    await clock.advance(20_000)
    expect((await runsOf(api)).runs).toMatchObject([{ status: 'COMPLETED' }])
  })

  it('task_request gets only the acceptance with the delivery NONE', async () => {
    await using api = await openServer({ ensembles: [echo()] })
    await using socket = await connectPeer(api)
    socket.send(request({ task: 'echo', context: 'Hello', delivery: { method: 'NONE' } }))
    await socket.next('task_accepted')
    await socket.next('run_result')
    socket.send({ type: 'ping' })
    await socket.next('pong')
    expect(socket.received.map(({ type }) => type)).not.toContain('task_response')
  })

  it('[AE-T4] task_request returns an earlier result of the same key that is not too old', async () => {
    const clock = fakeClock()
    await using api = await openServer({
      ensembles: [echo(), reviewedTask()],
      clock,
      limits: { clock },
    })
    let count = 0
    const again = (more: object) => {
      count += 1
      return ask(api, request({ requestId: `r-${count}`, task: 'echo', context: 'Hi', ...more }))
    }
    const cached = { cachePolicy: 'USE_CACHED', cacheKey: 'greeting' }
    expect(await again(cached)).toMatchObject({ result: 'Answer 1' })
    expect(await again(cached)).toMatchObject({ status: 'COMPLETED', result: 'Answer 1' })
    expect(await again({ ...cached, context: 'Another' })).toMatchObject({ result: 'Answer 1' })
    expect(await again({ ...cached, cacheKey: 'other' })).toMatchObject({ result: 'Answer 2' })
    expect(await again({ cacheKey: 'greeting' })).toMatchObject({ result: 'Answer 3' })
    // The newest result of a key is returned.
    expect(await again(cached)).toMatchObject({ result: 'Answer 3' })
    await clock.advance(10_000)
    expect(await again({ ...cached, maxAge: 'PT10S' })).toMatchObject({ result: 'Answer 3' })
    expect(await again({ ...cached, maxAge: 9 })).toMatchObject({ result: 'Answer 4' })
    expect(await again({ ...cached, cachePolicy: 'FORCE_FRESH' })).toMatchObject({
      result: 'Answer 5',
    })
    expect((await runsOf(api)).total).toBe(5)
  })

  it('[AE-T4] task_request does not return a run whose tags were chosen by its caller', async () => {
    await using api = await openServer({ ensembles: [echo()] })
    const digest = createHash('sha256')
      .update(JSON.stringify(['echo', 'greeting']))
      .digest('hex')
    const tags = { peerCache: digest, cacheKey: digest, peer: 'kitchen' }
    const runId = 'run-forged'
    await api.post('/api/runs', { runId, ensemble: 'echo', inputs: { text: 'forged' }, tags })
    await expect.poll(async () => (await api.detail(runId)).status).toBe('COMPLETED')
    const cached = { cachePolicy: 'USE_CACHED', cacheKey: 'greeting', task: 'echo', context: 'Hi' }
    expect(await ask(api, request(cached))).toMatchObject({ result: 'Answer 2' })
    expect(Object.keys((await runsOf(api)).runs[0]?.tags ?? {})).toEqual(['peer'])
  })

  it('[AE-T4] task_request does not return a result of another key', async () => {
    const keys = ['ann', 'bob'].map((name) => ({ name, key: `${name}-secret-of-16` }))
    await using api = await openServer({
      ensembles: [echo()],
      apiKeys: keys.map(({ name, key }) => apiKey(key, { name })),
    })
    const cached = { cachePolicy: 'USE_CACHED', cacheKey: 'greeting', task: 'echo', context: 'Hi' }
    const askAs = async (name: string, requestId: string) => {
      const key = keys.find((one) => one.name === name)?.key ?? ''
      await using socket = api.connect('/ws', { authorization: `Bearer ${key}` })
      await socket.next('hello')
      socket.send(request({ ...cached, requestId }))
      return await socket.next('task_response')
    }
    expect(await askAs('ann', 'r-1')).toMatchObject({ result: 'Answer 1' })
    expect(await askAs('ann', 'r-2')).toMatchObject({ result: 'Answer 1' })
    expect(await askAs('bob', 'r-3')).toMatchObject({ result: 'Answer 2' })
  })

  it('[AE-T4] task_request does not return the result of another task, or of a run that did not complete', async () => {
    await using api = await openServer({ ensembles: [echo(), reviewedTask()] })
    const cached = { cachePolicy: 'USE_CACHED', cacheKey: 'k', context: 'Hi' }
    await using socket = await connectPeer(api)
    socket.send(request({ ...cached, task: 'choir' }))
    await socket.next('task_progress')
    const [review] = await api.runs.reviews.open()
    await api.runs.send(review?.runId ?? '', { kind: 'cancel' })
    await socket.next('task_response')
    expect(await ask(api, request({ ...cached, requestId: 'r-2', task: 'echo' }))).toMatchObject({
      result: 'Answer 1',
    })
    await using other = await connectPeer(api)
    other.send(request({ ...cached, requestId: 'r-3', task: 'choir' }))
    expect(await other.next('task_progress')).toMatchObject({ status: 'WAITING_REVIEW' })
  })

  it('task_request gets an error when the store fails, because the task may continue', async () => {
    await using api = await openServer()
    const follow = api.runs.follow.bind(api.runs)
    api.runs.follow = async function* (options) {
      yield* []
      if (options.from === 0) throw new Error('The disk is gone')
      yield* follow(options)
    }
    await using socket = await connectPeer(api)
    socket.send(request())
    await socket.next('task_accepted')
    expect(await socket.next('error')).toMatchObject({ error: 'INTERNAL', requestId: 'r-1' })
    expect(api.errors).toHaveLength(1)
  })

  it('task_request is refused with every problem when it is invalid', async () => {
    await using api = await openServer()
    await using socket = await connectPeer(api)
    socket.send({ type: 'task_request', requestId: '', deadline: 'soon', priority: 'MAX' })
    const { error, problems = [] } = await socket.next('error')
    expect(error).toBe('BAD_REQUEST')
    expect(problems.map(({ path }) => path).toSorted()).toEqual([
      '/deadline',
      '/from',
      '/priority',
      '/requestId',
      '/task',
    ])
  })
})

describe('a peer whose key has only runs:read', () => {
  it.each([
    [{ type: 'tool_request', tool: 'wait' }, 'tool_response', 'tools:invoke'],
    [{ type: 'task_request', task: 'band', context: BAND }, 'task_response', 'runs:write'],
  ] as const)(
    'A peer whose key has only runs:read is rejected with the reply type of its message: %j',
    async (asked, answer, scope) => {
      await using api = await openServer({
        apiKeys: [apiKey('key-of-a-reader', { name: 'reader', scopes: ['runs:read'] })],
      })
      await using socket = api.connect('/ws', { authorization: 'Bearer key-of-a-reader' })
      await socket.next('hello')
      socket.send({ ...asked, requestId: 'r', from: 'kitchen' })
      expect(await socket.next(answer)).toEqual({
        type: answer,
        requestId: 'r',
        status: 'REJECTED',
        error: `FORBIDDEN: Key "reader" lacks the scope ${scope}; it has: runs:read`,
      })
      expect((await runsOf(api)).total).toBe(0)
    },
  )
})

describe('shared capabilities', () => {
  const say = defineTextTool({ name: 'say', description: 'Says', execute: (text) => text })
  const shout = defineTextTool({ name: 'shout', description: 'Shouts', execute: (text) => text })
  const options = (): TestServerOptions => ({
    ensembles: [reviewedTask(), echo()],
    tools: toolCatalog([say, shout]),
    shared: { ensembles: ['echo'], tools: ['shout'] },
  })
  const TASK = { name: 'echo', description: 'Says it', type: 'TASK' }
  const TOOL = { name: 'shout', description: 'Shouts', type: 'TOOL' }

  it.each<[object, readonly object[]]>([
    [{}, [TASK, TOOL]],
    [{ capabilityType: 'TASK' }, [TASK]],
    [{ capabilityType: 'TOOL' }, [TOOL]],
    [{ toolName: 'shout' }, [TOOL]],
    [{ toolName: 'say' }, []],
    [{ toolName: 'echo' }, []],
    [{ toolName: 'shout', capabilityType: 'TASK' }, []],
    [{ tag: 'loud' }, []],
  ])('Shared capabilities are found by capability_query %j', async (filter, capabilities) => {
    await using api = await openServer(options())
    await using socket = await connectPeer(api)
    socket.send({ type: 'capability_query', requestId: 'q', from: 'kitchen', ...filter })
    expect(await socket.next('capability_response')).toEqual({
      type: 'capability_response',
      requestId: 'q',
      ensemble: 'choir',
      capabilities,
    })
  })

  it('Shared capabilities are found by their tags, which are shown wherever capabilities are shown', async () => {
    const tags = { echo: ['speech', 'loud'], shout: ['loud'] }
    await using api = await openServer({ ...options(), shared: { ...options().shared, tags } })
    await using socket = await connectPeer(api)
    const query = async (tag: string) => {
      socket.send({ type: 'capability_query', requestId: tag, from: 'kitchen', tag })
      const answer = () =>
        socket.received.find(
          (message) => message.type === 'capability_response' && message.requestId === tag,
        )
      await expect.poll(answer).toBeDefined()
      return (answer() as CapabilityResponse).capabilities
    }
    const task = { ...TASK, tags: ['speech', 'loud'] }
    const tool = { ...TOOL, tags: ['loud'] }
    expect(await query('loud')).toEqual([task, tool])
    expect(await query('speech')).toEqual([task])
    expect(await query('quiet')).toEqual([])
    expect(socket.received[0]).toMatchObject({ sharedCapabilities: [task, tool] })
    const capabilities = await (await api.get('/api/capabilities')).json()
    expect(capabilities).toMatchObject({
      sharedTasks: [{ name: 'echo', tags: ['speech', 'loud'] }],
      sharedTools: [{ name: 'shout', tags: ['loud'] }],
    })
  })

  it('Shared capabilities refuse tags of names that are not shared', async () => {
    const shared = { ensembles: ['echo'], tools: ['shout'], tags: { say: ['quiet'] } }
    await expect(openServer({ ...options(), shared })).rejects.toThrow(
      'tags name "say", which is not shared',
    )
  })

  it('Shared capabilities are the same in the status and the capabilities', async () => {
    await using api = await openServer(options())
    expect(await (await api.get('/api/status')).json()).toMatchObject({
      sharedCapabilities: [TASK, TOOL],
    })
    expect(await (await api.get('/api/capabilities')).json()).toMatchObject({
      sharedTasks: [{ name: 'echo', description: 'Says it' }],
      sharedTools: [{ name: 'shout', description: 'Shouts' }],
    })
  })

  it('Shared capabilities include everything by default, and nothing with empty lists', async () => {
    const { shared: _, ...all } = options()
    await using open = await openServer(all)
    const { sharedTasks, sharedTools } = (await (await open.get('/api/capabilities')).json()) as {
      readonly sharedTasks: readonly object[]
      readonly sharedTools: readonly object[]
    }
    expect([sharedTasks.length, sharedTools.length]).toEqual([2, 2])
    await using closed = await openServer({ ...all, shared: { ensembles: [], tools: [] } })
    expect(await (await closed.get('/api/capabilities')).json()).toMatchObject({
      sharedTasks: [],
      sharedTools: [],
    })
  })

  it('Shared capabilities must exist when the server starts', async () => {
    const shared = { ensembles: ['echo', 'opera'], tools: ['whisper', 'mumble'] }
    await expect(openServer({ ...options(), shared })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'Cannot share unknown names: no ensemble is named "opera"; no tool is named "whisper", "mumble"',
    })
  })
})
