import { runTool, TuttiError, type ToolCallOutcome } from '@tutti/core'
import type { TimedAgentReport } from '@tutti/core/internal'
import {
  defineAgentTool,
  type AgentConnector,
  type AgentToolSettings,
} from '@tutti/agent-call/internal'
import { fakeClock, scriptedReviewer, type FakeClock } from '@tutti/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import { tasksConnector, type TasksConnectorOptions } from '../src/connector/index.ts'
import {
  rawServer,
  STREAM_HEAD,
  whole,
  type RawAnswer,
  type RawServer,
} from '../../net/test/raw-server.ts'

import type { RunToolOptions } from '@tutti/core'

interface Settings extends Partial<AgentToolSettings<string>> {
  readonly wire?: Partial<TasksConnectorOptions>
}

interface RunningCall {
  readonly outcome: Promise<ToolCallOutcome>
  readonly events: readonly TimedAgentReport[]
  readonly clock: FakeClock
  /** Returns the number of byte arrivals. */
  arrivals(): number
  /** Returns the types of the events without their common prefix. */
  types(): readonly string[]
}

/** Calls a tool for the agent at `server`. */
function call(
  server: Pick<RawServer, 'origin'>,
  { wire, ...settings }: Settings = {},
  options: RunToolOptions = {},
): RunningCall {
  const connector = tasksConnector({ url: server.origin, ...wire })
  onTestFinished(() => connector.close?.())
  let arrivals = 0
  const watched: AgentConnector = {
    ...connector,
    connect: (agentCall) => {
      const onBytes = (): void => {
        agentCall.onBytes()
        arrivals += 1
      }
      return connector.connect({ ...agentCall, onBytes })
    },
  }
  const clock = fakeClock()
  const events: TimedAgentReport[] = []
  const tool = defineAgentTool({
    name: 'researcher',
    description: 'Looks things up',
    connector: watched,
    ...settings,
  })
  const outcome = runTool(
    tool,
    { id: 'call-1', name: 'researcher', arguments: '{"input":"hello"}' },
    { clock, onAgentReport: (_, report) => events.push(report), ...options },
  )
  const types = () => events.map(({ type }) => type.replace('agent_tool_', ''))
  return { outcome, events, clock, types, arrivals: () => arrivals }
}

const lines = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('')

/** Starts a server that answers each request with the next answer and repeats the last one. */
async function startServing(...answers: readonly (string | RawAnswer)[]): Promise<RawServer> {
  let next = 0
  return rawServer((socket, request) => {
    const answer = answers[Math.min(next, answers.length - 1)] ?? ''
    next += 1
    if (typeof answer === 'string') socket.write(answer)
    else answer(socket, request)
  })
}

/** Response to a cancel, which also closes the connection. */
const CANCELLED = whole('{}', { headers: ['connection: close'] })

/** Starts a server that streams lines, leaves the stream open and answers cancels. */
async function startOpenStream(text: string): Promise<RawServer> {
  return rawServer((socket, { line }) => {
    socket.write(line.endsWith('/cancel') ? CANCELLED : `${STREAM_HEAD}${text}`)
  })
}

const TERMINAL = ['completed', 'terminated', 'error']
const json = (value: unknown): string => whole(JSON.stringify(value))

describe('the three modes', () => {
  test('The sync mode sends one request and returns one answer', async () => {
    const server = await startServing(json({ output: 'found', cost_usd: 0.25 }))
    const { outcome, events } = call(server)
    const { result } = await outcome
    expect(result).toMatchObject({ success: true, structured: { output: 'found', cost_usd: 0.25 } })
    expect(result.output).toBe('found')
    expect(events).toMatchObject([
      {
        type: 'agent_tool_invoked',
        agent_uri: `${server.origin}/`,
        mode: 'sync',
        protocol: 'tasks',
      },
      {
        type: 'agent_tool_completed',
        output: { output: 'found', cost_usd: 0.25 },
        total_cost: 0.25,
        total_turns: 1,
      },
    ])
  })

  test('The streaming mode emits an event for each chunk as it arrives', async () => {
    const server = await startServing(STREAM_HEAD)
    const { outcome, events } = call(server, { mode: 'streaming' })
    await server.request(0)
    const [socket] = server.open
    socket?.write(lines({ n: 0, cost_usd: 0.25 }))
    await expect.poll(() => events.length).toBe(2)
    socket?.write(lines({ n: 1, cost_usd: 0.5 }))
    await expect.poll(() => events.length).toBe(3)
    expect(events.slice(1)).toMatchObject([
      { type: 'agent_tool_progress', chunk_index: 0, chunk: { n: 0 }, accumulated_cost_usd: 0.25 },
      { type: 'agent_tool_progress', chunk_index: 1, chunk: { n: 1 }, accumulated_cost_usd: 0.75 },
    ])
    expect(events.every(({ timestamp_ms }) => Number.isInteger(timestamp_ms))).toBe(true)
    socket?.end('{"n":2}')
    expect((await outcome).result.structured).toEqual({ n: 2 })
    expect(events.slice(3)).toMatchObject([
      { type: 'agent_tool_progress', chunk_index: 2 },
      { type: 'agent_tool_completed', output: { n: 2 }, total_cost: 0.75, chunks_received: 3 },
    ])
  })

  test('The conversational mode sends back the output of an answer, or the whole answer without one', async () => {
    const server = await startServing(
      json({ output: 'draft', status: 'working' }),
      json({ draft: 2 }),
      json({ output: null }),
      json({ status: 'completed', output: 'done' }),
    )
    const { outcome, events, types } = call(server, { mode: 'conversational' })
    expect((await outcome).result.output).toBe('done')
    expect(
      server.requests.map(({ body }) => JSON.parse(body).params.message.parts[0].text),
    ).toEqual(['"hello"', '"draft"', '{"draft":2}', 'null'])
    expect(new Set(server.requests.map(({ line }) => line))).toEqual(new Set(['POST /tasks/send']))
    expect(types()).toEqual(['invoked', ...Array<string>(8).fill('turn'), 'completed'])
    expect(events.at(-1)).toMatchObject({ total_turns: 4 })
  })

  test('The conversational mode ends after maxTurns with the last answer', async () => {
    const server = await startServing(json({ output: 'more' }))
    const five = call(server, { mode: 'conversational' })
    expect((await five.outcome).result).toMatchObject({
      success: true,
      structured: { output: 'more' },
    })
    expect(server.requests).toHaveLength(5)
    await call(server, { mode: 'conversational', maxTurns: 2 }).outcome
    expect(server.requests).toHaveLength(7)
  })

  test('The conversational mode sends the result of reply as the next turn', async () => {
    const server = await startServing(
      json({ status: 'input-required', id: 'run-1', output: 'Which?' }),
    )
    const turns: unknown[] = []
    await call(server, {
      mode: 'conversational',
      maxTurns: 2,
      reply: ({ question, index }) => {
        turns.push([index, question])
        return { choice: 1 }
      },
    }).outcome
    expect(turns).toEqual([[0, 'Which?']])
    expect(JSON.parse(server.requests[1]?.body ?? '').params).toEqual({
      id: 'run-1',
      message: { parts: [{ text: '{"choice":1}' }] },
    })
  })

  test.each(['sync', 'streaming'] as const)(
    'The tool in mode %s sends a question to the reviewer',
    async (mode) => {
      const asking = { status: 'input-required', id: 'run-1', output: 'Which?' }
      const server = await rawServer((socket, { body }) => {
        const isAnswer = JSON.parse(body).params.id === 'run-1'
        const answer = isAnswer ? { status: 'completed', output: 'done' } : asking
        if (mode === 'sync') socket.write(json(answer))
        else socket.end(`${STREAM_HEAD}${lines(answer)}`)
      })
      const reviewer = scriptedReviewer([{ action: 'EDIT', input: 'the first' }])
      const { outcome } = call(server, { mode }, { reviewer })
      expect((await outcome).result.output).toBe('done')
      expect(JSON.parse(server.requests[1]?.body ?? '').params.message.parts).toEqual([
        { text: '"the first"' },
      ])
    },
  )
})

describe('limits', () => {
  test('The idle timeout starts when the request is sent', async () => {
    const server = await startServing(() => undefined)
    const { outcome, events, clock, types } = call(server, { mode: 'streaming' })
    await server.request(0)
    await clock.advance(29_999)
    expect(types()).toEqual(['invoked'])
    await clock.advance(1)
    expect((await outcome).result.errorMessage).toMatch(/no data arrived for 30000 ms/)
    expect(events.at(-1)).toMatchObject({
      type: 'agent_tool_terminated',
      reason: 'idle_timeout',
      retryable: true,
    })
    expect(server.requests).toHaveLength(1)
    await server.allClosed()
  })

  test('The idle timeout restarts with any byte, and sends a cancel while the stream is open', async () => {
    const closed = Promise.withResolvers<number>()
    const server = await rawServer((socket, { line }) => {
      if (line.endsWith('/cancel')) {
        closed.resolve(server.open.size)
        socket.write(CANCELLED)
      } else socket.write(`${STREAM_HEAD}${lines({ id: 'run-1', text: 'a' })}`)
    })
    const running = call(server, { mode: 'streaming', idleTimeoutMs: 1_000 })
    const { outcome, events, clock, types, arrivals } = running
    await expect.poll(() => events.length).toBe(2)
    const [socket] = server.open
    for (const blank of [' ', '\n', ' ']) {
      await clock.advance(999)
      const before = arrivals()
      socket?.write(blank)
      await expect.poll(arrivals).toBe(before + 1)
    }
    expect(types()).toEqual(['invoked', 'progress'])
    await clock.advance(1_000)
    const { result } = await outcome
    expect(await closed.promise).toBe(2)
    expect(server.requests[1]?.body).toBe('{"id":"run-1"}')
    expect(types()).toEqual(['invoked', 'progress', 'terminated'])
    expect(events.at(-1)).toMatchObject({
      reason: 'idle_timeout',
      partial_output: [{ id: 'run-1', text: 'a' }],
      chunks_received: 1,
    })
    expect(result.structured).toMatchObject({ partial: [{ id: 'run-1', text: 'a' }] })
    await server.allClosed()
  })

  test('An exceeded budget ends the stream and drops later lines', async () => {
    const server = await startOpenStream(
      lines(
        { id: 'run-1', cost_usd: 0.25 },
        { cost_usd: 0.25 },
        { cost_usd: 0.25 },
        { late: true },
      ),
    )
    const { outcome, events, types } = call(server, { mode: 'streaming', maxCostUsd: 0.5 })
    const { result } = await outcome
    expect(result.success).toBe(false)
    expect(types()).toEqual(['invoked', 'progress', 'progress', 'progress', 'terminated'])
    expect(events.at(-1)).toMatchObject({
      reason: 'budget_exceeded',
      accumulated_cost_usd: 0.75,
      retryable: false,
      chunks_received: 3,
    })
    expect(server.requests.map(({ line }) => line)).toEqual([
      'POST /tasks/sendSubscribe',
      'POST /tasks/cancel',
    ])
    await server.allClosed()
  })

  test('The budget also applies to a last line without a line feed', async () => {
    const server = await startServing((socket) => socket.end(`${STREAM_HEAD}{"cost_usd":2}`))
    const { outcome, types } = call(server, { mode: 'streaming', maxCostUsd: 1 })
    await outcome
    expect(types()).toEqual(['invoked', 'progress', 'terminated'])
  })

  test('The budget ignores negative and non-numeric costs', async () => {
    const odd = lines({ cost_usd: -5 }, { cost_usd: '9' }, { cost_usd: 0.5 }, { cost_usd: null })
    const server = await startServing((socket) =>
      socket.end(`${STREAM_HEAD}${odd}{"cost_usd":1e999}`),
    )
    const { outcome, events } = call(server, { mode: 'streaming', maxCostUsd: 0.5 })
    expect((await outcome).result.success).toBe(true)
    expect(events.at(-1)).toMatchObject({ type: 'agent_tool_completed', total_cost: 0.5 })
  })

  test('The budget applies to a sync answer and to all turns of a conversation', async () => {
    const expensive = await startServing(json({ output: 'x', cost_usd: 2 }))
    const sync = call(expensive, { maxCostUsd: 1 })
    expect((await sync.outcome).result.success).toBe(false)
    expect(sync.types()).toEqual(['invoked', 'terminated'])
    const turns = await startServing(json({ output: 'x', total_cost_usd: 0.5 }))
    const conversation = call(turns, { mode: 'conversational', maxCostUsd: 1.25 })
    await conversation.outcome
    expect(turns.requests).toHaveLength(3)
    expect(conversation.events.at(-1)).toMatchObject({ reason: 'budget_exceeded', total_turns: 2 })
    const left = turns.requests.map(
      ({ body }) => JSON.parse(body).params.metadata['https://tutti.dev/a2a/usage/v1'],
    )
    expect(left.map(({ max_cost_usd }) => max_cost_usd)).toEqual([1.25, 0.75, 0.25])
  })

  test('The token limit ends the stream when the reported tokens exceed it', async () => {
    const server = await startOpenStream(lines({ total_tokens: 90 }, { total_tokens: 101 }))
    const { outcome, events } = call(server, { mode: 'streaming', maxTokens: 100 })
    await outcome
    expect(events.at(-1)).toMatchObject({ reason: 'budget_exceeded', chunks_received: 2 })
  })

  test('The timeout ends an unanswered request and closes its connection', async () => {
    const server = await startServing(() => undefined)
    const { outcome, events, clock } = call(server, { timeoutMs: 5_000 })
    await server.request(0)
    await clock.advance(5_000)
    expect((await outcome).result.errorMessage).toMatch(/took longer than 5000 ms/)
    expect(events.at(-1)).toMatchObject({ reason: 'timeout', retryable: true })
    await server.allClosed()
  })

  test('A cancel is forwarded to the agent, and the call returns the partial output', async () => {
    const server = await startOpenStream(lines({ id: 'run-1' }))
    const cancelling = new AbortController()
    const { outcome, events } = call(server, { mode: 'streaming' }, { signal: cancelling.signal })
    await expect.poll(() => events.length).toBe(2)
    cancelling.abort(new TuttiError('CANCELLED', 'Enough'))
    await outcome.catch(() => undefined)
    expect(server.requests[1]?.body).toBe('{"id":"run-1"}')
    expect(events.at(-1)).toMatchObject({
      type: 'agent_tool_terminated',
      reason: 'cancelled',
      partial_output: [{ id: 'run-1' }],
    })
    await server.allClosed()
  })
})

describe('failures', () => {
  const reset: RawAnswer = (socket) => {
    socket.write(`${STREAM_HEAD}${lines({ id: 'run-1' })}`, () => {
      setTimeout(() => socket.resetAndDestroy(), 5)
    })
  }
  const closing: RawAnswer = (socket) => socket.end()

  test.each<[string, Settings['mode'] & string, string | RawAnswer, object]>([
    [
      'an HTTP error',
      'sync',
      whole('no', { status: '400 Bad Request' }),
      {
        failure_type: 'http_error',
        retryable: false,
        error: 'Agent returned error 400 Bad Request: no',
      },
    ],
    [
      'an HTTP error',
      'streaming',
      whole('no', { status: '503 Service Unavailable' }),
      { failure_type: 'http_error', retryable: true },
    ],
    [
      'an HTTP error',
      'conversational',
      whole('', { status: '500 Oh' }),
      { failure_type: 'http_error', retryable: true, error: 'Agent returned error 500 Oh' },
    ],
    [
      'a redirect of a POST',
      'sync',
      whole('', { status: '302 Found', headers: ['location: /'] }),
      { failure_type: 'http_error', retryable: false },
    ],
    [
      'a body that is not JSON',
      'sync',
      whole('<html>'),
      { failure_type: 'invalid_response', retryable: false },
    ],
    [
      'a body that is not JSON',
      'conversational',
      whole('<html>'),
      { failure_type: 'invalid_response' },
    ],
    ['an empty body', 'sync', whole(''), { failure_type: 'invalid_response' }],
    ['no content', 'sync', 'HTTP/1.1 204 No Content\r\n\r\n', { failure_type: 'invalid_response' }],
    [
      'a response that is not HTTP',
      'sync',
      'hello\r\n\r\n',
      { failure_type: 'invalid_response', retryable: false },
    ],
    ['a closed connection', 'sync', closing, { failure_type: 'connection_lost', retryable: true }],
    ['a closed connection', 'streaming', closing, { failure_type: 'connection_lost' }],
    [
      'a reset during the stream',
      'streaming',
      reset,
      {
        failure_type: 'connection_lost',
        retryable: true,
        partial_output: [{ id: 'run-1' }],
        chunks_received: 1,
      },
    ],
    [
      'a failed task',
      'sync',
      json({ status: 'failed', error: 'No' }),
      {
        failure_type: 'agent_failed',
        retryable: false,
        partial_output: { status: 'failed', error: 'No' },
      },
    ],
    [
      'a failed task',
      'conversational',
      json({ status: 'failed', retryable: true }),
      { failure_type: 'agent_failed', retryable: true },
    ],
    [
      'a JSON-RPC error',
      'sync',
      json({ jsonrpc: '2.0', error: { code: 1, message: 'No' } }),
      { failure_type: 'agent_failed' },
    ],
    [
      'a question without a reviewer',
      'sync',
      json({ status: 'input-required', output: 'Which?' }),
      { failure_type: 'input_required', error: expect.stringContaining('Which?') },
    ],
  ])(
    'A call of a tasks agent emits exactly one terminal event for %s (%s)',
    async (_title, mode, answer, expected) => {
      const server = await startServing(answer, whole('{}'))
      const { outcome, events, types } = call(server, { mode })
      expect((await outcome).result.success).toBe(false)
      expect(types().filter((type) => TERMINAL.includes(type))).toEqual(['error'])
      expect(types()[0]).toBe('invoked')
      expect(events.at(-1)).toMatchObject(expected)
    },
  )

  test.each<[string, string, object]>([
    [
      'a JSON-RPC error in a line',
      lines(1, { jsonrpc: '2.0', error: { message: 'No' } }),
      { failure_type: 'agent_failed', chunks_received: 2 },
    ],
    [
      'a failed task in the last line',
      lines(1, { status: 'failed' }),
      { failure_type: 'agent_failed', partial_output: [1, { status: 'failed' }] },
    ],
    [
      'a task that can no longer be reported',
      lines({ id: 'a' }, { status: 'working', error: 'X' }),
      { failure_type: 'connection_lost', retryable: true },
    ],
    [
      'a line that is too long',
      lines({ id: 'run-1' }) + 'x'.repeat(2_000),
      { failure_type: 'invalid_response', chunks_received: 1 },
    ],
  ])(
    'A call of a tasks agent emits exactly one terminal event for %s (streaming)',
    async (_title, text, expected) => {
      const server = await startServing(
        (socket) => socket.end(`${STREAM_HEAD}${text}`),
        whole('{}'),
      )
      const { outcome, events, types } = call(server, {
        mode: 'streaming',
        wire: { maxLineBytes: 1_000 },
      })
      expect((await outcome).result.success).toBe(false)
      expect(types().filter((type) => TERMINAL.includes(type))).toEqual(['error'])
      expect(events.at(-1)).toMatchObject(expected)
    },
  )

  test('A call reports an unreachable agent as a retryable failure', async () => {
    const { outcome, events, types } = call({ origin: 'http://127.0.0.1:1' })
    expect((await outcome).result.errorMessage).toContain(
      'Cannot reach the agent at http://127.0.0.1:1: the connection was refused',
    )
    expect(types()).toEqual(['invoked', 'error'])
    expect(events.at(-1)).toMatchObject({ failure_type: 'unreachable', retryable: true })
  })

  test('A call cancels the task of an agent that sends an invalid stream', async () => {
    const server = await startOpenStream(`${lines({ id: 'run-1' })}${'x'.repeat(2_000)}`)
    await call(server, { mode: 'streaming', wire: { maxLineBytes: 1_000 } }).outcome
    expect(server.requests[1]?.body).toBe('{"id":"run-1"}')
    await server.allClosed()
  })

  test('A call retries a temporary failure after the delay that the agent requests', async () => {
    const busy = whole('busy', { status: '503 Service Unavailable', headers: ['retry-after: 7'] })
    const server = await startServing(busy, json({ output: 'found' }))
    const { outcome, clock, types } = call(server, { retries: 1 })
    await expect.poll(() => types()).toEqual(['invoked', 'error'])
    await expect.poll(() => clock.pending).toBe(1)
    await clock.advance(6_999)
    expect(server.requests).toHaveLength(1)
    await clock.advance(1)
    expect((await outcome).result.output).toBe('found')
    expect(types()).toEqual(['invoked', 'error', 'invoked', 'completed'])
    expect(server.requests[0]?.text).toBe(server.requests[1]?.text)
  })
})
