import { runTool, systemClock, Type, type Reviewer } from '@tutti/core'
import type { TimedAgentReport } from '@tutti/core/internal'
import { defineAgentTool, type AgentToolSettings } from '@tutti/agent-call/internal'
import { fakeClock, scriptedReviewer } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import {
  connectorTo,
  EVERYTHING,
  startMcpServer,
  testServerProcess,
  type McpTestServer,
} from './mcp-test-servers.ts'

import type { AgentConnector } from '@tutti/agent-call/internal'
import type { Clock } from '@tutti/core'

interface AskOptions extends Omit<AgentToolSettings, 'name' | 'description'> {
  readonly connector: AgentConnector
  readonly input?: object
  readonly reviewer?: Reviewer
  readonly signal?: AbortSignal
  readonly clock?: Clock
  readonly onEvent?: (event: TimedAgentReport) => void
}

/** Calls the tool once and returns the outcome and the events. */
async function ask({ connector, input = {}, ...options }: AskOptions) {
  const { reviewer, signal, clock = systemClock, onEvent, ...settings } = options
  const tool = defineAgentTool({
    name: 'agent',
    description: 'Asks',
    connector,
    input: Type.Object({}, { additionalProperties: true }),
    // The input of the agent comes from the test, not from the arguments of the call.
    request: () => input,
    ...settings,
  })
  const events: TimedAgentReport[] = []
  const outcome = await runTool(
    tool,
    { id: 'c', name: 'agent', arguments: '{}' },
    {
      clock,
      ...(reviewer === undefined ? {} : { reviewer }),
      ...(signal === undefined ? {} : { signal }),
      onAgentReport: (_, event) => {
        events.push(event)
        onEvent?.(event)
      },
    },
  )
  return { ...outcome, events, types: events.map(({ type }) => type) }
}

const TERMINAL: ReadonlySet<string> = new Set([
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
])

function expectOneTerminalEvent(types: readonly string[]): void {
  expect(types[0]).toBe('agent_tool_invoked')
  expect(types.filter((type) => TERMINAL.has(type))).toHaveLength(1)
  expect(TERMINAL.has(types.at(-1) ?? '')).toBe(true)
}

describe('a streaming call of an MCP tool', () => {
  it('A streaming call of an MCP tool emits an event for each progress as it arrives', async () => {
    const server = await startMcpServer('modern')
    let reported = 0
    const { types, events, result } = await ask({
      connector: connectorTo({ server, tool: 'steps' }),
      mode: 'streaming',
      onEvent: ({ type }) => {
        if (type === 'agent_tool_progress') reported += 1
        // The server takes the next step only after the previous one was reported.
        void continueSteps(server, reported)
      },
    })
    expectOneTerminalEvent(types)
    expect(result.output).toBe('done')
    const progress = events.filter(({ type }) => type === 'agent_tool_progress')
    expect(progress.map((event) => 'chunk' in event && event.chunk)).toMatchObject([
      { progress: 1 },
      { progress: 2 },
      { progress: 3 },
    ])
  })

  it('A streaming call of an MCP tool is cancelled after the idle timeout and returns the partial output', async () => {
    const server = await startMcpServer('modern')
    const clock = fakeClock()
    const { types, result } = await ask({
      connector: connectorTo({ server, tool: 'wait' }),
      mode: 'streaming',
      idleTimeoutMs: 1_000,
      clock,
      onEvent: ({ type }) => {
        if (type === 'agent_tool_progress') void clock.advance(1_000)
      },
    })
    expectOneTerminalEvent(types)
    expect(types.at(-1)).toBe('agent_tool_terminated')
    expect(result.structured).toMatchObject({
      failure: 'idle_timeout',
      partial: [{ progress: 0, message: 'waiting' }],
    })
    await waitUntilStopped(server)
  })

  it('A streaming call of an MCP tool continues while progress arrives within the idle timeout', async () => {
    const server = await startMcpServer('sessions')
    const clock = fakeClock()
    let reported = 0
    const { result } = await ask({
      connector: connectorTo({ server, tool: 'steps' }),
      mode: 'streaming',
      idleTimeoutMs: 1_000,
      clock,
      onEvent: ({ type }) => {
        if (type === 'agent_tool_progress') reported += 1
        void clock.advance(900).then(() => continueSteps(server, reported))
      },
    })
    expect(result.output).toBe('done')
    expect(clock.elapsed()).toBeGreaterThan(3_000)
  })

  it('A streaming call of an MCP tool ends when the cost limit is exceeded', async () => {
    const server = await startMcpServer('modern')
    const { types, result } = await ask({
      connector: connectorTo({ server, tool: 'usage' }),
      mode: 'streaming',
      maxCostUsd: 0.5,
    })
    expectOneTerminalEvent(types)
    expect(result.structured).toMatchObject({ failure: 'budget_exceeded', costUsd: 0.75 })
  })
})

describe('a call of an MCP tool', () => {
  it.each(['modern', 'sessions', 'stateless'] as const)(
    'A call of an MCP tool stops the tool and emits one terminal event when it is cancelled (%s)',
    async (era) => {
      const server = await startMcpServer(era)
      const controller = new AbortController()
      const types: string[] = []
      const asking = ask({
        connector: connectorTo({ server, tool: 'wait' }),
        mode: 'streaming',
        signal: controller.signal,
        onEvent: ({ type }) => {
          types.push(type)
          if (type === 'agent_tool_progress') controller.abort()
        },
      })
      await asking.catch(() => undefined)
      expectOneTerminalEvent(types)
      expect(types.at(-1)).toBe('agent_tool_terminated')
      await waitUntilStopped(server)
    },
  )

  it('A call of an MCP tool ends at its timeout, and the next call uses the same connection', async () => {
    const server = testServerProcess()
    const clock = fakeClock()
    const late = await ask({
      connector: connectorTo({ server, tool: 'wait' }),
      mode: 'streaming',
      timeoutMs: 5_000,
      clock,
      onEvent: ({ type }) => {
        if (type === 'agent_tool_progress') void clock.advance(5_000)
      },
    })
    expectOneTerminalEvent(late.types)
    expect(late.result.structured).toMatchObject({ failure: 'timeout', retryable: true })
    const { result } = await ask({ connector: connectorTo({ server, tool: 'stopped' }) })
    expect(result.output).toBe('{}')
  })

  it('A call of an MCP tool reports a failure as an event and as a result', async () => {
    const server = testServerProcess()
    const { types, result } = await ask({ connector: connectorTo({ server, tool: 'fail' }) })
    expectOneTerminalEvent(types)
    expect(result.errorMessage).toMatch(/MCP tool "fail" failed: no such file/)
    expect(result.structured).toMatchObject({ failure: 'agent_failed', retryable: false })
  })

  it('A call of an MCP tool is retried with a new child process after the process has exited', async () => {
    const server = testServerProcess()
    const { events } = await ask({
      connector: connectorTo({ server, tool: 'crash' }),
      retries: 1,
      retryDelayMs: 1,
    })
    const ends = events.filter(({ type }) => TERMINAL.has(type))
    expect(ends).toMatchObject([
      { type: 'agent_tool_error', failure_type: 'connection_lost', retry_index: 0 },
      { type: 'agent_tool_error', failure_type: 'connection_lost', retry_index: 1 },
    ])
  })
})

describe.each([
  ['modern HTTP', () => startMcpServer('modern')],
  ['HTTP with sessions', () => startMcpServer('sessions')],
  ['a child process', async () => testServerProcess()],
])('a question of an MCP tool over %s', (_, start) => {
  it('A question of an MCP tool is answered by `reply` in a conversation', async () => {
    const asked: unknown[] = []
    const { types, result } = await ask({
      connector: connectorTo({ server: await start(), tool: 'ask' }),
      mode: 'conversational',
      reply: ({ question, state }) => {
        asked.push({ question, state })
        return 'Ada'
      },
    })
    expectOneTerminalEvent(types)
    expect(types.filter((type) => type === 'agent_tool_turn')).toHaveLength(4)
    expect(asked).toEqual([{ question: 'What is your name?', state: 'input_required' }])
    expect(JSON.parse(result.output)).toEqual({ action: 'accept', content: { name: 'Ada' } })
  })

  it.each(['sync', 'streaming'] as const)(
    'A question of an MCP tool is answered by `reply` in mode %s, too',
    async (mode) => {
      const connector = connectorTo({ server: await start(), tool: 'ask' })
      const { types, result } = await ask({ connector, mode, reply: () => 'Ada' })
      expectOneTerminalEvent(types)
      expect(JSON.parse(result.output)).toEqual({ action: 'accept', content: { name: 'Ada' } })
    },
  )

  it('A question of an MCP tool goes to the reviewer as a form when it has several fields, even in a conversation', async () => {
    const content = { name: 'Ada', age: 36 }
    const reviewer = scriptedReviewer([{ action: 'EDIT', input: content }])
    const connector = connectorTo({ server: await start(), tool: 'form' })
    const { result } = await ask({ connector, mode: 'conversational', reviewer })
    expect(JSON.parse(result.output)).toEqual({ action: 'accept', content })
    expect(reviewer.requests).toMatchObject([{ inputSchema: { required: ['name', 'age'] } }])
  })

  it.each(['conversational', 'sync', 'streaming'] as const)(
    'A question of an MCP tool is answered by the reviewer (%s)',
    async (mode) => {
      const reviewer = scriptedReviewer([{ action: 'EDIT', input: 'Ada' }])
      const connector = connectorTo({ server: await start(), tool: 'ask' })
      const { types, result } = await ask({ connector, mode, reviewer })
      expectOneTerminalEvent(types)
      expect(JSON.parse(result.output)).toEqual({ action: 'accept', content: { name: 'Ada' } })
      expect(reviewer.requests).toMatchObject([{ description: 'What is your name?' }])
    },
  )

  it('A question of an MCP tool is declined without a reviewer or `reply`, in every mode', async () => {
    const server = await start()
    for (const mode of ['sync', 'streaming', 'conversational'] as const) {
      const { result } = await ask({ connector: connectorTo({ server, tool: 'ask' }), mode })
      expect(JSON.parse(result.output)).toEqual({ action: 'decline' })
    }
  })

  it('A question of an MCP tool ends the call when it stays open, and the server accepts the next call', async () => {
    const server = await start()
    const connector = connectorTo({ server, tool: 'ask' })
    const { types } = await ask({ connector, mode: 'conversational', reply: () => undefined })
    expectOneTerminalEvent(types)
    const { result } = await ask({
      connector: connectorTo({ server, tool: 'echo' }),
      input: { message: 'a' },
    })
    expect(result.output).toBe('{"message":"a"}')
  })
})

it('A conversation answers a question of the reference server with `reply`', async () => {
  const server = { command: process.execPath, args: [EVERYTHING, 'stdio'] }
  const connector = connectorTo({ server, tool: 'trigger-elicitation-request' })
  const { result } = await ask({
    connector,
    mode: 'conversational',
    reply: () => ({ name: 'Ada' }),
  })
  expect(result.output).toContain('- Name: Ada')
})

/** Waits until the only call of `wait` is cancelled; over HTTP the cancel arrives asynchronously. */
async function waitUntilStopped({ state }: McpTestServer): Promise<void> {
  if (state.stopped.length === 0) {
    await new Promise((resolve) => state.events.once('stopped', resolve))
  }
  expect(state.stopped).toHaveLength(1)
}

/** Lets the tool take its next step as soon as it waits for it. */
async function continueSteps({ state }: McpTestServer, reported: number): Promise<void> {
  while (state.calls.get('steps') === undefined || state.events.listenerCount('go') === 0) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (reported >= 0) state.events.emit('go')
}
