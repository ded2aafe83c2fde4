/** What streams bring, and what becomes of a call when they break. */
import { USAGE_EXTENSION } from '@tutti/protocol'
import { expect, test } from 'vitest'

import { a2aConnector } from '../src/a2a/a2a-connector.ts'
import { MAX_LOST, MAX_SUBSCRIPTIONS } from '../src/a2a/ask-agent.ts'
import {
  artifact,
  rawAgent,
  status,
  task,
  type RawAgent,
  type RawExchange,
} from './a2a-raw-agent.ts'
import { hurriedCall } from './a2a-surroundings.ts'
import { askOnce } from './test-call.ts'

const WORKING = task('WORKING')

function connectorTo({ url }: RawAgent) {
  return a2aConnector({ url })
}

async function failureOf(agent: RawAgent): Promise<unknown> {
  const asking = askOnce(connectorTo(agent), 'go', hurriedCall())
  return asking.then(
    () => 'an answer',
    (error: unknown) => error,
  )
}

function streamedTo(agent: RawAgent) {
  return askOnce(connectorTo(agent), 'go', hurriedCall({ mode: 'streaming' }))
}

test('each object is a chunk at the moment it arrives, as the wire has it', async () => {
  const agent = await rawAgent(() => undefined)
  const session = await connectorTo(agent).connect(hurriedCall({ mode: 'streaming' }))
  const updates = session.send({ input: 'go', index: 0 })[Symbol.asyncIterator]()
  const all = [WORKING, artifact('one', { append: true, lastChunk: true }), status('COMPLETED')]
  const first = updates.next()
  const stream = await agent.requested('SendStreamingMessage')
  stream.event(all[0])
  expect(await first).toEqual({ done: false, value: { kind: 'chunk', chunk: all[0] } })
  for (const news of all.slice(1)) {
    const coming = updates.next()
    stream.event(news)
    expect(await coming).toEqual({ done: false, value: { kind: 'chunk', chunk: news } })
  }
  expect(await updates.next()).toMatchObject({ value: { kind: 'end', output: 'one' } })
  expect(await updates.next()).toMatchObject({ done: true })
})

test('in other modes no object is a chunk', async () => {
  const agent = await rawAgent((exchange) => {
    for (const news of [WORKING, artifact('one'), status('COMPLETED')]) exchange.event(news)
  })
  const { updates } = await askOnce(connectorTo(agent), 'go', hurriedCall())
  expect(updates.map(({ kind }) => kind)).toEqual(['end'])
})

test('a stream whose task has settled is closed, whether the agent closes it or not', async () => {
  const closed = Promise.withResolvers<void>()
  const agent = await rawAgent(({ event, response }) => {
    response.on('close', closed.resolve)
    event(task('COMPLETED', { artifacts: [{ artifactId: 'a', parts: [{ text: 'done' }] }] }))
  })
  const { answer } = await streamedTo(agent)
  expect(answer.output).toBe('done')
  await closed.promise
})

test('comments that keep a connection alive are bytes, and nothing else', async () => {
  const agent = await rawAgent(() => undefined)
  const call = hurriedCall({ mode: 'streaming' })
  const session = await connectorTo(agent).connect(call)
  const updates = session.send({ input: 'go', index: 0 })[Symbol.asyncIterator]()
  const first = updates.next()
  const stream = await agent.requested('SendStreamingMessage')
  stream.event(WORKING)
  await first
  const next = updates.next()
  for (let count = 0; count < 3; count += 1) {
    const before = call.arrivals
    stream.bytes(': keep-alive\n\n')
    await expect.poll(() => call.arrivals).toBeGreaterThan(before)
  }
  stream.event(status('COMPLETED'))
  expect(await next).toMatchObject({ value: { chunk: status('COMPLETED') } })
})

test('a call that is over lets go of its stream at once', async () => {
  const closed = Promise.withResolvers<void>()
  const agent = await rawAgent(({ event, response }) => {
    response.on('close', closed.resolve)
    event(WORKING)
  })
  const call = hurriedCall({ mode: 'streaming' })
  const session = await connectorTo(agent).connect(call)
  const updates = session.send({ input: 'go', index: 0 })[Symbol.asyncIterator]()
  await updates.next()
  const next = updates.next()
  call.abort(new Error('It is over'))
  await expect(next).rejects.toThrow('It is over')
  await closed.promise
  expect(agent.names).toEqual(['SendStreamingMessage'])
})

const COST = { metadata: { cost_usd: 0.5 } }

test('[Q2] a stream that is reset is taken up again: nothing is sent, made or counted twice', async () => {
  const agent = await rawAgent(({ name, event, reset }) => {
    if (name === 'SendStreamingMessage') {
      event(WORKING)
      event(artifact('one, ', COST))
      reset()
    } else if (name === 'SubscribeToTask') {
      const artifacts = [{ artifactId: 'a', parts: [{ text: 'one, ' }, { text: 'two, ' }] }]
      event(task('WORKING', { artifacts, ...COST }))
      event(artifact('three', { append: true, ...COST }))
      event(status('COMPLETED'))
    }
  })
  const { answer, updates } = await streamedTo(agent)
  expect(answer).toMatchObject({ state: 'completed', output: 'one, two, three' })
  expect(agent.names).toEqual(['SendStreamingMessage', 'SubscribeToTask'])
  const costs = updates.flatMap((update) => update.usage?.totalCostUsd ?? [])
  expect(costs).toEqual([0.5, 0.5, 1])
})

test('[Q2] a stream that ends without an end is taken up again', async () => {
  const agent = await rawAgent(({ name, event, response }) => {
    event(name === 'SubscribeToTask' ? task('COMPLETED') : WORKING)
    response.end()
  })
  expect((await streamedTo(agent)).answer).toMatchObject({ state: 'completed' })
  expect(agent.names).toEqual(['SendStreamingMessage', 'SubscribeToTask'])
})

test('[Q2] an agent that cannot be followed is asked how the task stands, less and less often', async () => {
  const waits: number[] = []
  const agent = await rawAgent(({ name, index, event, error, result, response }) => {
    if (name === 'SubscribeToTask') error(-32_004, 'Not supported')
    else if (name === 'GetTask') {
      result({
        id: 'task-1',
        status: { state: index < 6 ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED' },
      })
    } else {
      event(WORKING)
      response.end()
    }
  })
  const call = hurriedCall()
  const clock = {
    ...call.clock,
    after: (delayMs: number, callback: () => void) => {
      waits.push(delayMs)
      return call.clock.after(delayMs, callback)
    },
  }
  const { answer } = await askOnce(connectorTo(agent), 'go', hurriedCall({ clock }))
  expect(answer).toMatchObject({ state: 'completed' })
  expect(agent.names.filter((name) => name === 'SubscribeToTask')).toHaveLength(1)
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000])
})

test('[Q2] subscriptions that bring nothing are given up after a number of them', async () => {
  const agent = await rawAgent(({ name, index, event, result, response }) => {
    if (name === 'GetTask') {
      const state = index < 8 ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED'
      result({ id: 'task-1', status: { state } })
      return
    }
    event(WORKING)
    response.end()
  })
  await streamedTo(agent)
  expect(agent.names.filter((name) => name === 'SubscribeToTask')).toHaveLength(MAX_SUBSCRIPTIONS)
})

test('[Q2] a stream that brings news each time is taken up as often as it breaks', async () => {
  const agent = await rawAgent(({ name, index, event, result, response }) => {
    if (name === 'GetTask') {
      result({ id: 'task-1', status: { state: 'TASK_STATE_WORKING' } })
      return
    }
    event(WORKING)
    if (name === 'SubscribeToTask') event(index < 7 ? artifact(`${index}`) : status('COMPLETED'))
    response.end()
  })
  expect((await streamedTo(agent)).answer).toMatchObject({ state: 'completed' })
  expect(agent.names.filter((name) => name === 'SubscribeToTask')).toHaveLength(8)
})

test('[Q2] a subscription that is lost is tried again', async () => {
  const agent = await rawAgent(({ name, index, event, result, reset, response }) => {
    if (name === 'GetTask') result({ id: 'task-1', status: { state: 'TASK_STATE_WORKING' } })
    else if (name === 'SendStreamingMessage') response.end(event(WORKING))
    else if (index === 0) reset()
    else event(task('COMPLETED'))
  })
  expect((await streamedTo(agent)).answer).toMatchObject({ state: 'completed' })
  expect(agent.names.filter((name) => name === 'SubscribeToTask')).toHaveLength(2)
})

test('[Q3] questions that are lost now and then are asked again', async () => {
  const agent = await rawAgent(
    ({ name, index, json, result }) => {
      if (name === 'SendMessage') result(task('WORKING'))
      else if (index % 2 === 0) json({}, 503)
      else
        result({
          id: 'task-1',
          status: { state: `TASK_STATE_${index < 20 ? 'WORKING' : 'COMPLETED'}` },
        })
    },
    { streaming: false },
  )
  expect((await streamedTo(agent)).answer).toMatchObject({ state: 'completed' })
})

test('[Q3] a question that is refused is a failure as it is', async () => {
  const agent = await rawAgent(
    ({ name, json, result }) => {
      if (name === 'SendMessage') result(task('WORKING'))
      else json({}, 403)
    },
    { streaming: false },
  )
  expect(await failureOf(agent)).toMatchObject({ failureType: 'http_error', retryable: false })
  expect(agent.names).toEqual(['SendMessage', 'GetTask'])
})

test('[Q3] a connection that stays lost is a lost connection, after a number of tries', async () => {
  const agent = await rawAgent(({ name, event, reset, response }) => {
    if (name === 'SendStreamingMessage') event(WORKING)
    else response.socket?.resetAndDestroy()
    if (name === 'SendStreamingMessage') reset()
  })
  expect(await failureOf(agent)).toMatchObject({ failureType: 'connection_lost', retryable: true })
  expect(agent.names.filter((name) => name === 'GetTask')).toHaveLength(MAX_LOST)
  expect(agent.names.filter((name) => name === 'SendStreamingMessage')).toHaveLength(1)
})

test('[Q3] a task that the agent has forgotten is a lost connection', async () => {
  const agent = await rawAgent(({ name, event, error, reset }) => {
    if (name !== 'SendStreamingMessage') {
      error(-32_001, 'Task not found')
      return
    }
    event(WORKING)
    reset()
  })
  const failure = await failureOf(agent)
  expect(failure).toMatchObject({ failureType: 'connection_lost', retryable: true })
  expect(String(failure)).toContain('"task-1"')
})

test('[Q2] a message is not sent again when its stream is reset before the task is known', async () => {
  const agent = await rawAgent(({ bytes, reset }) => {
    bytes(': hello\n\n')
    reset()
  })
  expect(await failureOf(agent)).toMatchObject({ failureType: 'connection_lost', retryable: true })
  expect(agent.names).toEqual(['SendStreamingMessage'])
})

test.each([
  ['a named ping', 'event: ping\ndata: {}\n\n'],
  ['what is not JSON', 'data: {"jsonrpc":\n\n'],
  ['an answer to somebody else', 'data: {"jsonrpc":"2.0","id":99,"result":{}}\n\n'],
])('[Q2] %s in a stream costs the stream, not the answer', async (_title, text) => {
  const agent = await rawAgent(({ name, event, bytes, result }) => {
    if (name === 'GetTask') {
      result({
        id: 'task-1',
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ artifactId: 'a', parts: [{ text: 'whole' }] }],
      })
      return
    }
    event(WORKING)
    bytes(text)
  })
  expect((await streamedTo(agent)).answer).toMatchObject({ state: 'completed', output: 'whole' })
})

const garbage: readonly (readonly [string, (exchange: RawExchange) => void])[] = [
  ['what is not JSON', ({ bytes }) => bytes('data: nonsense\n\n')],
  ['a stream of nothing', ({ bytes, response }) => response.end(bytes(': nothing\n\n'))],
  ['an object that is nothing', ({ event, response }) => response.end(event({}))],
  ['a page', ({ response }) => response.end('<html></html>')],
  ['a list', ({ json }) => json([])],
  ['an event that never ends', ({ bytes }) => bytes(`data: ${'x'.repeat(5 * 1_048_576)}`)],
]

test.each(garbage)('%s is no answer', async (_title, answer) => {
  const failure = await failureOf(await rawAgent(answer))
  expect(failure).toMatchObject({ failureType: 'invalid_response', retryable: false })
})

test('an error within a stream is what the agent says', async () => {
  const agent = await rawAgent(({ event, bytes }) => {
    event(WORKING)
    bytes('data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"No paper"}}\n\n')
  })
  expect(await failureOf(agent)).toMatchObject({
    failureType: 'agent_failed',
    message: 'Agent returned error -32603: No paper',
    retryable: false,
  })
  expect(agent.names).toEqual(['SendStreamingMessage'])
})

const failures: readonly (readonly [string, (exchange: RawExchange) => void, object])[] = [
  [
    'a status that may pass',
    ({ json }) => json({ busy: true }, 503, { 'retry-after': '7' }),
    {
      failureType: 'http_error',
      retryable: true,
      retryAfterMs: 7_000,
      message: 'Agent returned error 503 Service Unavailable: {"busy":true}',
    },
  ],
  [
    'a status of HTTP with an error of JSON-RPC',
    ({ error }) => error(-32_603, 'Broken', 500),
    { failureType: 'http_error', retryable: true },
  ],
  [
    'credentials that are missing',
    ({ error }) => error(-32_000, 'Who are you', 401),
    { failureType: 'http_error', retryable: false },
  ],
  [
    'a status of 4xx without an error of A2A',
    ({ json }) => json({ no: 'way' }, 400),
    { failureType: 'http_error', message: 'Agent returned error 400 Bad Request: {"no":"way"}' },
  ],
  [
    'an error of A2A with a status of 4xx',
    ({ error }) => error(-32_005, 'No pictures', 400),
    { failureType: 'agent_failed', message: 'Agent returned error -32005: No pictures' },
  ],
  [
    'an error within a 200',
    ({ error }) => error(-32_602, 'No such skill'),
    { failureType: 'agent_failed', retryable: false },
  ],
]

test.each(failures)('%s is told as it is', async (_title, answer, failure) => {
  expect(await failureOf(await rawAgent(answer))).toMatchObject(failure)
})

test('[Q1] an agent that refuses to stream is asked without', async () => {
  const agent = await rawAgent(({ name, error, result }) => {
    if (name === 'SendStreamingMessage') error(-32_004, 'Streaming is not supported')
    else result(task('COMPLETED', { artifacts: [{ artifactId: 'a', parts: [{ text: 'done' }] }] }))
  })
  expect((await streamedTo(agent)).answer).toMatchObject({ output: 'done' })
  expect(agent.names).toEqual(['SendStreamingMessage', 'SendMessage'])
})

test('[Q1] an agent that does not stream is asked not to wait, and one that refuses that to wait', async () => {
  const asked: unknown[] = []
  const agent = await rawAgent(
    ({ index, params, error, result }) => {
      asked.push(params['configuration'])
      if (index === 0) error(-32_602, 'returnImmediately is not known')
      else result(task('COMPLETED'))
    },
    { streaming: false },
  )
  await streamedTo(agent)
  expect(asked).toEqual([{ returnImmediately: true }, {}])
})

test('[Q1] each way in which a polled task stands differently is a chunk, once', async () => {
  const agent = await rawAgent(
    ({ name, index, result }) => {
      if (name === 'SendMessage') result(task('SUBMITTED'))
      else if (index < 4) result({ id: 'task-1', status: { state: 'TASK_STATE_WORKING' } })
      else result({ id: 'task-1', status: { state: 'TASK_STATE_COMPLETED' } })
    },
    { streaming: false },
  )
  const { chunks } = await streamedTo(agent)
  expect(chunks.map((chunk) => (chunk as { task: { status: unknown } }).task.status)).toEqual([
    { state: 'TASK_STATE_SUBMITTED' },
    { state: 'TASK_STATE_WORKING' },
    { state: 'TASK_STATE_COMPLETED' },
  ])
})

test('an answer that is too large is not read to its end', async () => {
  const agent = await rawAgent(
    ({ result }) => result({ message: { messageId: 'x'.repeat(2_000) } }),
    {
      streaming: false,
    },
  )
  const connector = a2aConnector({ url: agent.url, maxBodyBytes: 1_000 })
  await expect(askOnce(connector, 'go', hurriedCall())).rejects.toMatchObject({
    failureType: 'invalid_response',
    message: 'The agent sent a response of more than 1000 bytes',
  })
})

test('what was used is told with the news that told it', async () => {
  const totals = { total_cost_usd: 2, total_tokens: 30 }
  const agent = await rawAgent(({ event }) => {
    event(WORKING)
    event(status('WORKING', { metadata: { [USAGE_EXTENSION]: totals } }))
    event(status('COMPLETED'))
  })
  const { updates } = await askOnce(connectorTo(agent), 'go', hurriedCall())
  expect(updates.slice(0, -1)).toEqual([
    { kind: 'usage', usage: { totalCostUsd: 2, totalTokens: 30 } },
  ])
})

test('what has arrived of an answer that is not whole can be seen', async () => {
  const agent = await rawAgent(({ event }) => {
    event(WORKING)
    event(artifact('half'))
  })
  const session = await connectorTo(agent).connect(hurriedCall({ mode: 'streaming' }))
  const updates = session.send({ input: 'go', index: 0 })[Symbol.asyncIterator]()
  expect(session.partial?.()).toBeUndefined()
  await updates.next()
  await updates.next()
  expect(session.partial?.()).toBe('half')
})
