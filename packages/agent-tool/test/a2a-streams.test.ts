/** Tests how streams are read, and how a call recovers from broken streams. */
import { USAGE_EXTENSION } from '@tutti/protocol/internal'
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
import { hurriedCall } from './a2a-hurried-call.ts'
import { askOnce } from './test-call.ts'

const WORKING = task('WORKING')

function createConnector({ url }: RawAgent) {
  return a2aConnector({ url })
}

async function catchFailure(agent: RawAgent): Promise<unknown> {
  const asking = askOnce(createConnector(agent), 'go', hurriedCall())
  return asking.then(
    () => 'an answer',
    (error: unknown) => error,
  )
}

function askStreaming(agent: RawAgent) {
  return askOnce(createConnector(agent), 'go', hurriedCall({ mode: 'streaming' }))
}

test('A stream yields each object as a chunk when it arrives, unchanged', async () => {
  const agent = await rawAgent(() => undefined)
  const session = await createConnector(agent).connect(hurriedCall({ mode: 'streaming' }))
  const updates = session.send({ input: 'go', index: 0 })[Symbol.asyncIterator]()
  const all = [WORKING, artifact('one', { append: true, lastChunk: true }), status('COMPLETED')]
  const first = updates.next()
  const stream = await agent.requested('SendStreamingMessage')
  stream.event(all[0])
  expect(await first).toEqual({ done: false, value: { kind: 'chunk', chunk: all[0] } })
  for (const item of all.slice(1)) {
    const coming = updates.next()
    stream.event(item)
    expect(await coming).toEqual({ done: false, value: { kind: 'chunk', chunk: item } })
  }
  expect(await updates.next()).toMatchObject({ value: { kind: 'end', output: 'one' } })
  expect(await updates.next()).toMatchObject({ done: true })
})

test('A call yields no chunks outside the streaming mode', async () => {
  const agent = await rawAgent((exchange) => {
    for (const item of [WORKING, artifact('one'), status('COMPLETED')]) exchange.event(item)
  })
  const { updates } = await askOnce(createConnector(agent), 'go', hurriedCall())
  expect(updates.map(({ kind }) => kind)).toEqual(['end'])
})

test('The connector closes the stream when the task has settled, even if the agent leaves it open', async () => {
  const closed = Promise.withResolvers<void>()
  const agent = await rawAgent(({ event, response }) => {
    response.on('close', closed.resolve)
    event(task('COMPLETED', { artifacts: [{ artifactId: 'a', parts: [{ text: 'done' }] }] }))
  })
  const { answer } = await askStreaming(agent)
  expect(answer.output).toBe('done')
  await closed.promise
})

test('The connector counts keep-alive comments as received bytes and otherwise ignores them', async () => {
  const agent = await rawAgent(() => undefined)
  const call = hurriedCall({ mode: 'streaming' })
  const session = await createConnector(agent).connect(call)
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

test('The connector closes the stream as soon as the call is aborted', async () => {
  const closed = Promise.withResolvers<void>()
  const agent = await rawAgent(({ event, response }) => {
    response.on('close', closed.resolve)
    event(WORKING)
  })
  const call = hurriedCall({ mode: 'streaming' })
  const session = await createConnector(agent).connect(call)
  const updates = session.send({ input: 'go', index: 0 })[Symbol.asyncIterator]()
  await updates.next()
  const next = updates.next()
  call.abort(new Error('Aborted'))
  await expect(next).rejects.toThrow('Aborted')
  await closed.promise
  expect(agent.names).toEqual(['SendStreamingMessage'])
})

const COST = { metadata: { cost_usd: 0.5 } }

test('[AGENT-Q2] The connector resubscribes after a reset without repeating messages, output or costs', async () => {
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
  const { answer, updates } = await askStreaming(agent)
  expect(answer).toMatchObject({ state: 'completed', output: 'one, two, three' })
  expect(agent.names).toEqual(['SendStreamingMessage', 'SubscribeToTask'])
  const costs = updates.flatMap((update) => update.usage?.totalCostUsd ?? [])
  expect(costs).toEqual([0.5, 0.5, 1])
})

test('[AGENT-Q2] The connector resubscribes when a stream ends before its task', async () => {
  const agent = await rawAgent(({ name, event, response }) => {
    event(name === 'SubscribeToTask' ? task('COMPLETED') : WORKING)
    response.end()
  })
  expect((await askStreaming(agent)).answer).toMatchObject({ state: 'completed' })
  expect(agent.names).toEqual(['SendStreamingMessage', 'SubscribeToTask'])
})

test('[AGENT-Q2] The connector polls the task at growing intervals when the agent does not support subscriptions', async () => {
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
  const { answer } = await askOnce(createConnector(agent), 'go', hurriedCall({ clock }))
  expect(answer).toMatchObject({ state: 'completed' })
  expect(agent.names.filter((name) => name === 'SubscribeToTask')).toHaveLength(1)
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000])
})

test('[AGENT-Q2] The connector polls after the maximum number of subscriptions without a new object', async () => {
  const agent = await rawAgent(({ name, index, event, result, response }) => {
    if (name === 'GetTask') {
      const state = index < 8 ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED'
      result({ id: 'task-1', status: { state } })
      return
    }
    event(WORKING)
    response.end()
  })
  await askStreaming(agent)
  expect(agent.names.filter((name) => name === 'SubscribeToTask')).toHaveLength(MAX_SUBSCRIPTIONS)
})

test('[AGENT-Q2] The connector resubscribes without limit while each subscription makes progress', async () => {
  const agent = await rawAgent(({ name, index, event, result, response }) => {
    if (name === 'GetTask') {
      result({ id: 'task-1', status: { state: 'TASK_STATE_WORKING' } })
      return
    }
    event(WORKING)
    if (name === 'SubscribeToTask') event(index < 7 ? artifact(`${index}`) : status('COMPLETED'))
    response.end()
  })
  expect((await askStreaming(agent)).answer).toMatchObject({ state: 'completed' })
  expect(agent.names.filter((name) => name === 'SubscribeToTask')).toHaveLength(8)
})

test('[AGENT-Q2] The connector retries a lost subscription', async () => {
  const agent = await rawAgent(({ name, index, event, result, reset, response }) => {
    if (name === 'GetTask') result({ id: 'task-1', status: { state: 'TASK_STATE_WORKING' } })
    else if (name === 'SendStreamingMessage') response.end(event(WORKING))
    else if (index === 0) reset()
    else event(task('COMPLETED'))
  })
  expect((await askStreaming(agent)).answer).toMatchObject({ state: 'completed' })
  expect(agent.names.filter((name) => name === 'SubscribeToTask')).toHaveLength(2)
})

test('[AGENT-Q3] The connector repeats polls that fail with a temporary error', async () => {
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
  expect((await askStreaming(agent)).answer).toMatchObject({ state: 'completed' })
})

test('[AGENT-Q3] The call fails at once when a poll is rejected', async () => {
  const agent = await rawAgent(
    ({ name, json, result }) => {
      if (name === 'SendMessage') result(task('WORKING'))
      else json({}, 403)
    },
    { streaming: false },
  )
  expect(await catchFailure(agent)).toMatchObject({ failureType: 'http_error', retryable: false })
  expect(agent.names).toEqual(['SendMessage', 'GetTask'])
})

test('[AGENT-Q3] The call fails with connection_lost after the maximum number of lost polls', async () => {
  const agent = await rawAgent(({ name, event, reset, response }) => {
    if (name === 'SendStreamingMessage') event(WORKING)
    else response.socket?.resetAndDestroy()
    if (name === 'SendStreamingMessage') reset()
  })
  expect(await catchFailure(agent)).toMatchObject({
    failureType: 'connection_lost',
    retryable: true,
  })
  expect(agent.names.filter((name) => name === 'GetTask')).toHaveLength(MAX_LOST)
  expect(agent.names.filter((name) => name === 'SendStreamingMessage')).toHaveLength(1)
})

test('[AGENT-Q3] The call fails with connection_lost when the agent no longer knows the task', async () => {
  const agent = await rawAgent(({ name, event, error, reset }) => {
    if (name !== 'SendStreamingMessage') {
      error(-32_001, 'Task not found')
      return
    }
    event(WORKING)
    reset()
  })
  const failure = await catchFailure(agent)
  expect(failure).toMatchObject({ failureType: 'connection_lost', retryable: true })
  expect(String(failure)).toContain('"task-1"')
})

test('[AGENT-Q2] The connector does not repeat a message when its stream is reset before the task is known', async () => {
  const agent = await rawAgent(({ bytes, reset }) => {
    bytes(': hello\n\n')
    reset()
  })
  expect(await catchFailure(agent)).toMatchObject({
    failureType: 'connection_lost',
    retryable: true,
  })
  expect(agent.names).toEqual(['SendStreamingMessage'])
})

test.each([
  ['a named ping', 'event: ping\ndata: {}\n\n'],
  ['invalid JSON', 'data: {"jsonrpc":\n\n'],
  ['a response to another request', 'data: {"jsonrpc":"2.0","id":99,"result":{}}\n\n'],
])('[AGENT-Q2] The connector polls for the answer after %s in a stream', async (_title, text) => {
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
  expect((await askStreaming(agent)).answer).toMatchObject({ state: 'completed', output: 'whole' })
})

const garbage: readonly (readonly [string, (exchange: RawExchange) => void])[] = [
  ['invalid JSON', ({ bytes }) => bytes('data: nonsense\n\n')],
  ['an empty stream', ({ bytes, response }) => response.end(bytes(': nothing\n\n'))],
  ['an object without content', ({ event, response }) => response.end(event({}))],
  ['an HTML page', ({ response }) => response.end('<html></html>')],
  ['a list', ({ json }) => json([])],
  ['an event that never ends', ({ bytes }) => bytes(`data: ${'x'.repeat(5 * 1_048_576)}`)],
]

test.each(garbage)('The call fails with invalid_response for %s', async (_title, answer) => {
  const failure = await catchFailure(await rawAgent(answer))
  expect(failure).toMatchObject({ failureType: 'invalid_response', retryable: false })
})

test('The connector reports an error that the agent sends within a stream', async () => {
  const agent = await rawAgent(({ event, bytes }) => {
    event(WORKING)
    bytes('data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"No paper"}}\n\n')
  })
  expect(await catchFailure(agent)).toMatchObject({
    failureType: 'agent_failed',
    message: 'Agent returned error -32603: No paper',
    retryable: false,
  })
  expect(agent.names).toEqual(['SendStreamingMessage'])
})

test.each([
  ['METHOD_NOT_FOUND', -32_601],
  ['UNSUPPORTED_OPERATION', -32_004],
])(
  '[AGENT-Q2] The connector does not send the message again after %s within a stream',
  async (_title, code) => {
    const agent = await rawAgent(({ name, event, bytes, result }) => {
      if (name !== 'SendStreamingMessage') {
        result(task('COMPLETED'))
        return
      }
      event(WORKING)
      const error = { code, message: 'Not supported' }
      bytes(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, error })}\n\n`)
    })
    expect(await catchFailure(agent)).toMatchObject({
      failureType: 'agent_failed',
      message: `Agent returned error ${code}: Not supported`,
      retryable: false,
    })
    expect(agent.names).toEqual(['SendStreamingMessage'])
  },
)

const failures: readonly (readonly [string, (exchange: RawExchange) => void, object])[] = [
  [
    'a temporary HTTP error',
    ({ json }) => json({ busy: true }, 503, { 'retry-after': '7' }),
    {
      failureType: 'http_error',
      retryable: true,
      retryAfterMs: 7_000,
      message: 'Agent returned error 503 Service Unavailable: {"busy":true}',
    },
  ],
  [
    'an HTTP error with a JSON-RPC error',
    ({ error }) => error(-32_603, 'Broken', 500),
    { failureType: 'http_error', retryable: true },
  ],
  [
    'missing credentials',
    ({ error }) => error(-32_000, 'Who are you', 401),
    { failureType: 'http_error', retryable: false },
  ],
  [
    'a 4xx status without an A2A error',
    ({ json }) => json({ no: 'way' }, 400),
    { failureType: 'http_error', message: 'Agent returned error 400 Bad Request: {"no":"way"}' },
  ],
  [
    'an A2A error with a 4xx status',
    ({ error }) => error(-32_005, 'No pictures', 400),
    { failureType: 'agent_failed', message: 'Agent returned error -32005: No pictures' },
  ],
  [
    'an error in a 200 response',
    ({ error }) => error(-32_602, 'No such skill'),
    { failureType: 'agent_failed', retryable: false },
  ],
]

test.each(failures)('The connector reports %s', async (_title, answer, failure) => {
  expect(await catchFailure(await rawAgent(answer))).toMatchObject(failure)
})

test('[AGENT-Q1] The connector falls back to a request without streaming when the agent refuses to stream', async () => {
  const agent = await rawAgent(({ name, error, result }) => {
    if (name === 'SendStreamingMessage') error(-32_004, 'Streaming is not supported')
    else result(task('COMPLETED', { artifacts: [{ artifactId: 'a', parts: [{ text: 'done' }] }] }))
  })
  expect((await askStreaming(agent)).answer).toMatchObject({ output: 'done' })
  expect(agent.names).toEqual(['SendStreamingMessage', 'SendMessage'])
})

test('[AGENT-Q1] The connector requests an immediate response from an agent without streaming, and a blocking one if that is refused', async () => {
  const asked: unknown[] = []
  const agent = await rawAgent(
    ({ index, params, error, result }) => {
      asked.push(params['configuration'])
      if (index === 0) error(-32_602, 'returnImmediately is not known')
      else result(task('COMPLETED'))
    },
    { streaming: false },
  )
  await askStreaming(agent)
  expect(asked).toEqual([{ returnImmediately: true }, {}])
})

test('[AGENT-Q1] The connector yields one chunk for each change of a polled task', async () => {
  const agent = await rawAgent(
    ({ name, index, result }) => {
      if (name === 'SendMessage') result(task('SUBMITTED'))
      else if (index < 4) result({ id: 'task-1', status: { state: 'TASK_STATE_WORKING' } })
      else result({ id: 'task-1', status: { state: 'TASK_STATE_COMPLETED' } })
    },
    { streaming: false },
  )
  const { chunks } = await askStreaming(agent)
  expect(chunks.map((chunk) => (chunk as { task: { status: unknown } }).task.status)).toEqual([
    { state: 'TASK_STATE_SUBMITTED' },
    { state: 'TASK_STATE_WORKING' },
    { state: 'TASK_STATE_COMPLETED' },
  ])
})

test('The connector rejects an answer that is too large', async () => {
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

test('The connector rejects an answer of too many values before it is parsed', async () => {
  const values = Array.from({ length: 60_000 }, () => 0)
  const agent = await rawAgent(
    ({ result }) => result({ message: { messageId: 'm', parts: [{ data: values }] } }),
    { streaming: false },
  )
  await expect(
    askOnce(a2aConnector({ url: agent.url }), 'go', hurriedCall()),
  ).rejects.toMatchObject({
    failureType: 'invalid_response',
    message: expect.stringContaining('at most 50000 fields and items, got'),
  })
})

test('The connector reports usage with the event that contains it', async () => {
  const totals = { total_cost_usd: 2, total_tokens: 30 }
  const agent = await rawAgent(({ event }) => {
    event(WORKING)
    event(status('WORKING', { metadata: { [USAGE_EXTENSION]: totals } }))
    event(status('COMPLETED'))
  })
  const { updates } = await askOnce(createConnector(agent), 'go', hurriedCall())
  expect(updates.slice(0, -1)).toEqual([
    { kind: 'usage', usage: { totalCostUsd: 2, totalTokens: 30 } },
  ])
})

test('The connector returns the output that has arrived as the partial answer', async () => {
  const agent = await rawAgent(({ event }) => {
    event(WORKING)
    event(artifact('half'))
  })
  const session = await createConnector(agent).connect(hurriedCall({ mode: 'streaming' }))
  const updates = session.send({ input: 'go', index: 0 })[Symbol.asyncIterator]()
  expect(session.partial?.()).toBeUndefined()
  await updates.next()
  await updates.next()
  expect(session.partial?.()).toBe('half')
})
