/** Tests how the turns of a conversation are linked, and the metadata of their messages. */
import { USAGE_EXTENSION } from '@tutti/protocol/internal'
import { expect, test } from 'vitest'

import { a2aConnector } from '../src/a2a/a2a-connector.ts'
import { artifact, rawAgent, status, task } from './a2a-raw-agent.ts'
import { hurriedCall } from './a2a-hurried-call.ts'
import { sendTurn } from './test-call.ts'

import type { AgentCall } from '@tutti/agent-call/internal'
import type { RawAgentOptions, RawExchange } from './a2a-raw-agent.ts'

const UNLIMITED = { timeMs: Infinity, costUsd: Infinity, tokens: Infinity }

async function conversation(
  answer: (exchange: RawExchange) => void,
  { call = {}, ...options }: RawAgentOptions & { readonly call?: Partial<AgentCall> } = {},
) {
  const agent = await rawAgent(answer, options)
  const connector = a2aConnector({ url: agent.url })
  return { agent, session: await connector.connect(hurriedCall(call)) }
}

function readMessages({ exchanges }: { readonly exchanges: readonly RawExchange[] }) {
  // NOTE: the connector sends messages of this type only.
  return exchanges.flatMap(({ name, params }) =>
    name === 'SendStreamingMessage' ? [params['message'] as Record<string, unknown>] : [],
  )
}

test('[AGENT-V1] The A2A connector answers a question in its task, and sends only the context after the task has ended', async () => {
  const { agent, session } = await conversation(({ index, event }) => {
    event(index === 0 ? task('INPUT_REQUIRED') : task('COMPLETED'))
  })
  await sendTurn(session, 'one', 0)
  await sendTurn(session, 'two', 1)
  await sendTurn(session, 'three', 2)
  expect(readMessages(agent).map(({ taskId, contextId }) => [taskId, contextId])).toEqual([
    [undefined, undefined],
    ['task-1', 'context-1'],
    [undefined, 'context-1'],
  ])
})

test("[AGENT-V1] The A2A connector returns only the output of the turn's task", async () => {
  const { session } = await conversation(({ index, event }) => {
    event({
      task: { id: `task-${index}`, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } },
    })
    if (index === 0) event(artifact('first'))
    event(status('COMPLETED'))
  })
  expect((await sendTurn(session, 'one', 0)).answer.output).toBe('first')
  expect((await sendTurn(session, 'two', 1)).answer.output).toBeNull()
})

test('[AGENT-V1] The A2A connector ignores an answered question in a snapshot', async () => {
  const question = { state: 'TASK_STATE_INPUT_REQUIRED', message: { messageId: 'q', parts: [] } }
  const waiting = { task: { id: 'task-1', contextId: 'context-1', status: question } }
  const { session } = await conversation(({ index, event }) => {
    event(waiting)
    if (index === 1) event(status('COMPLETED'))
  })
  expect((await sendTurn(session, 'one', 0)).answer.state).toBe('input_required')
  expect((await sendTurn(session, 'two', 1)).answer.state).toBe('completed')
})

test('[AGENT-V1] The A2A connector asks an answered question again when the stream ends with it', async () => {
  const question = { state: 'TASK_STATE_INPUT_REQUIRED', message: { messageId: 'q', parts: [] } }
  const { session } = await conversation(({ event, response }) => {
    event({ task: { id: 'task-1', status: question } })
    response.end()
  })
  await sendTurn(session, 'one', 0)
  expect((await sendTurn(session, 'two', 1)).answer.state).toBe('input_required')
})

test('[AGENT-V1] The A2A connector asks an answered question again when a poll still returns it', async () => {
  const question = { state: 'TASK_STATE_INPUT_REQUIRED', message: { messageId: 'q', parts: [] } }
  const waiting = { id: 'task-1', contextId: 'context-1', status: question }
  const { agent, session } = await conversation(
    ({ name, result }) => result(name === 'GetTask' ? waiting : { task: waiting }),
    { streaming: false },
  )
  await sendTurn(session, 'one', 0)
  expect((await sendTurn(session, 'two', 1)).answer.state).toBe('input_required')
  expect(agent.names).toEqual(['SendMessage', 'SendMessage', 'GetTask'])
})

test('The A2A call fails with connection_lost when an answer may not have arrived', async () => {
  const { agent, session } = await conversation(({ index, event, bytes, reset }) => {
    if (index === 0) {
      event(task('INPUT_REQUIRED'))
      return
    }
    bytes(': hello\n\n')
    reset()
  })
  await sendTurn(session, 'one', 0)
  await expect(sendTurn(session, 'two', 1)).rejects.toMatchObject({
    failureType: 'connection_lost',
    retryable: true,
  })
  expect(agent.names).toEqual(['SendStreamingMessage', 'SendStreamingMessage'])
})

test.each([
  ['a text', 'hello', ['application/json'], { text: 'hello' }],
  [
    'data for an agent that accepts JSON',
    { n: 1 },
    ['application/json'],
    { data: { n: 1 }, mediaType: 'application/json' },
  ],
  ['data as text for other agents', { n: 1 }, ['text/plain'], { text: '{"n":1}' }],
  ['a number as text for other agents', 5, [], { text: '5' }],
  ['null as text', null, ['application/json'], { text: 'null' }],
])('The A2A connector sends %s as one part', async (_title, input, inputModes, part) => {
  const { agent, session } = await conversation(({ event }) => event(task('COMPLETED')), {
    inputModes,
  })
  await sendTurn(session, input)
  expect(readMessages(agent)).toMatchObject([{ role: 'ROLE_USER', parts: [part] }])
})

test('[AGENT-V2] The A2A connector sends the current limits of the call with every message', async () => {
  let left = 1
  const { agent, session } = await conversation(({ event }) => event(task('COMPLETED')), {
    call: { remaining: () => ({ ...UNLIMITED, costUsd: left, timeMs: 2_000 }) },
  })
  await sendTurn(session, 'one', 0)
  left = 0.5
  await sendTurn(session, 'two', 1)
  const sent = agent.exchanges.filter(({ name }) => name === 'SendStreamingMessage')
  expect(sent.map(({ params }) => params['metadata'])).toEqual([
    { [USAGE_EXTENSION]: { max_cost_usd: 1, deadline_ms: 2_000 } },
    { [USAGE_EXTENSION]: { max_cost_usd: 0.5, deadline_ms: 2_000 } },
  ])
  expect(readMessages(agent).map(({ metadata }) => metadata)).toEqual(
    sent.map(({ params }) => params['metadata']),
  )
})

test('The A2A connector sends no metadata without limits, a trace or a known extension', async () => {
  const { agent, session } = await conversation(({ event }) => event(task('COMPLETED')), {
    extensions: ['https://other.example/ext'],
  })
  await sendTurn(session, 'one')
  const [{ headers, params } = { headers: {}, params: {} }] = agent.exchanges.slice(-1)
  expect(Object.keys(headers)).not.toContain('a2a-extensions')
  expect(Object.keys(headers)).not.toContain('traceparent')
  expect(params).toEqual({
    message: { messageId: 'call-1-0', role: 'ROLE_USER', parts: [{ text: 'one' }] },
    configuration: {},
  })
})

test('The A2A connector activates the usage extension when the card lists it', async () => {
  const remaining = () => ({ ...UNLIMITED, tokens: 100 })
  const { agent, session } = await conversation(({ event }) => event(task('COMPLETED')), {
    extensions: [USAGE_EXTENSION],
    call: { remaining },
  })
  await sendTurn(session, 'one')
  expect(agent.exchanges.at(-1)?.headers).toMatchObject({
    'a2a-extensions': USAGE_EXTENSION,
    'a2a-version': '1.0',
  })
  expect(readMessages(agent)).toMatchObject([{ extensions: [USAGE_EXTENSION] }])
})

test('The A2A connector sends the trace with every request', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const { agent, session } = await conversation(
    ({ name, event, response, result }) => {
      if (name === 'GetTask') result({ id: 'task-1', status: { state: 'TASK_STATE_COMPLETED' } })
      else response.end(event(task('WORKING')))
    },
    { call: { traceparent } },
  )
  await sendTurn(session, 'one')
  const sent = agent.exchanges.filter(({ name }) => name !== 'card')
  expect(sent.map(({ name, headers }) => [name, headers['traceparent']])).toEqual([
    ['SendStreamingMessage', traceparent],
    ['SubscribeToTask', traceparent],
    ['GetTask', traceparent],
  ])
})

test('[AGENT-V3] The A2A connector derives the message id from the call and the turn', async () => {
  const { agent, session } = await conversation(({ event }) => event(task('COMPLETED')), {
    call: { idempotencyKey: 'run-7/task/2' },
  })
  await sendTurn(session, 'one', 0)
  await sendTurn(session, 'two', 1)
  expect(readMessages(agent).map(({ messageId }) => messageId)).toEqual([
    'run-7/task/2-0',
    'run-7/task/2-1',
  ])
})

test.each([
  [-32_001, 'not found'],
  [-32_002, 'not cancelable'],
])('The A2A connector ignores the error %i in response to a cancel', async (code, message) => {
  const { agent, session } = await conversation(({ name, event, error }) => {
    if (name === 'CancelTask') error(code, message)
    else event(task('INPUT_REQUIRED'))
  })
  await sendTurn(session, 'one')
  await session.cancel(AbortSignal.timeout(10_000))
  expect(agent.exchanges.at(-1)).toMatchObject({ name: 'CancelTask', params: { id: 'task-1' } })
})

test('The A2A connector stops waiting for the response to a cancel when the signal aborts', async () => {
  const { agent, session } = await conversation(({ name, event }) => {
    if (name !== 'CancelTask') event(task('INPUT_REQUIRED'))
  })
  await sendTurn(session, 'one')
  const bound = new AbortController()
  const cancelling = session.cancel(bound.signal)
  await agent.requested('CancelTask')
  bound.abort()
  await cancelling
})

test.each([
  ['has ended', task('COMPLETED')],
  ['never existed', { message: { messageId: 'm', parts: [{ text: 'hi' }] } }],
])('The A2A connector does not cancel a task that %s', async (_title, item) => {
  const { agent, session } = await conversation(({ event }) => event(item))
  await sendTurn(session, 'one')
  await session.cancel(AbortSignal.timeout(10_000))
  expect(agent.names).toEqual(['SendStreamingMessage'])
})
