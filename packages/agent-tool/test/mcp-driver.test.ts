import { runTool, systemClock, Type, type TimedAgentReport, type Reviewer } from '@tutti/core'
import { defineAgentTool, type AgentToolSettings } from '@tutti/agent-call'
import { fakeClock, scriptedReviewer } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import {
  connectorTo,
  EVERYTHING,
  startMcpServer,
  testProgram,
  type McpTestServer,
} from './mcp-test-servers.ts'

import type { AgentConnector } from '@tutti/agent-call'
import type { Clock } from '@tutti/core'

interface Asked extends Omit<AgentToolSettings, 'name' | 'description'> {
  readonly connector: AgentConnector
  readonly input?: object
  readonly reviewer?: Reviewer
  readonly signal?: AbortSignal
  readonly clock?: Clock
  readonly onEvent?: (event: TimedAgentReport) => void
}

/** Calls the tool once; gives its outcome and its events. */
async function ask({ connector, input = {}, ...options }: Asked) {
  const { reviewer, signal, clock = systemClock, onEvent, ...settings } = options
  const tool = defineAgentTool({
    name: 'agent',
    description: 'Asks',
    connector,
    input: Type.Object({}, { additionalProperties: true }),
    // The schema of the tool lets everything through that the agent is to get.
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

function expectOneEnd(types: readonly string[]): void {
  expect(types[0]).toBe('agent_tool_invoked')
  expect(types.filter((type) => TERMINAL.has(type))).toHaveLength(1)
  expect(TERMINAL.has(types.at(-1) ?? '')).toBe(true)
}

describe('a streaming call of an MCP tool', () => {
  it('tells of each progress as an event at the moment it arrives', async () => {
    const server = await startMcpServer('modern')
    let told = 0
    const { types, events, result } = await ask({
      connector: connectorTo({ server, tool: 'steps' }),
      mode: 'streaming',
      onEvent: ({ type }) => {
        if (type === 'agent_tool_progress') told += 1
        // The next step comes only when the one before was told of.
        void goOn(server, told)
      },
    })
    expectOneEnd(types)
    expect(result.output).toBe('done')
    const progress = events.filter(({ type }) => type === 'agent_tool_progress')
    expect(progress.map((event) => 'chunk' in event && event.chunk)).toMatchObject([
      { progress: 1 },
      { progress: 2 },
      { progress: 3 },
    ])
  })

  it('ends after silence, is cancelled, and keeps what arrived', async () => {
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
    expectOneEnd(types)
    expect(types.at(-1)).toBe('agent_tool_terminated')
    expect(result.structured).toMatchObject({
      failure: 'idle_timeout',
      partial: [{ progress: 0, message: 'waiting' }],
    })
    await hasStopped(server)
  })

  it('goes on as long as progress comes before the silence is too long', async () => {
    const server = await startMcpServer('sessions')
    const clock = fakeClock()
    let told = 0
    const { result } = await ask({
      connector: connectorTo({ server, tool: 'steps' }),
      mode: 'streaming',
      idleTimeoutMs: 1_000,
      clock,
      onEvent: ({ type }) => {
        if (type === 'agent_tool_progress') told += 1
        void clock.advance(900).then(() => goOn(server, told))
      },
    })
    expect(result.output).toBe('done')
    expect(clock.elapsed()).toBeGreaterThan(3_000)
  })

  it('ends when what it costs is more than it may', async () => {
    const server = await startMcpServer('modern')
    const { types, result } = await ask({
      connector: connectorTo({ server, tool: 'usage' }),
      mode: 'streaming',
      maxCostUsd: 0.5,
    })
    expectOneEnd(types)
    expect(result.structured).toMatchObject({ failure: 'budget_exceeded', costUsd: 0.75 })
  })
})

describe('a call of an MCP tool', () => {
  it.each(['modern', 'sessions', 'stateless'] as const)(
    'that is cancelled stops the tool and has one end (%s)',
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
      expectOneEnd(types)
      expect(types.at(-1)).toBe('agent_tool_terminated')
      await hasStopped(server)
    },
  )

  it('that takes too long ends, and the next one goes through over the same connection', async () => {
    const server = testProgram()
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
    expectOneEnd(late.types)
    expect(late.result.structured).toMatchObject({ failure: 'timeout', retryable: true })
    const { result } = await ask({ connector: connectorTo({ server, tool: 'stopped' }) })
    expect(result.output).toBe('{}')
  })

  it('that fails is an event and a result that says what failed', async () => {
    const server = testProgram()
    const { types, result } = await ask({ connector: connectorTo({ server, tool: 'fail' }) })
    expectOneEnd(types)
    expect(result.errorMessage).toMatch(/MCP tool "fail" failed: no such file/)
    expect(result.structured).toMatchObject({ failure: 'agent_failed', retryable: false })
  })

  it('whose program died is made again when it may be, with a program that is new', async () => {
    const server = testProgram()
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
  ['HTTP of today', () => startMcpServer('modern')],
  ['HTTP with sessions', () => startMcpServer('sessions')],
  ['a program', async () => testProgram()],
])('a question of an MCP tool over %s', (_, start) => {
  it('is answered by `reply` in a conversation', async () => {
    const asked: unknown[] = []
    const { types, result } = await ask({
      connector: connectorTo({ server: await start(), tool: 'ask' }),
      mode: 'conversational',
      reply: ({ question, state }) => {
        asked.push({ question, state })
        return 'Ada'
      },
    })
    expectOneEnd(types)
    expect(types.filter((type) => type === 'agent_tool_turn')).toHaveLength(4)
    expect(asked).toEqual([{ question: 'What is your name?', state: 'input_required' }])
    expect(JSON.parse(result.output)).toEqual({ action: 'accept', content: { name: 'Ada' } })
  })

  it.each(['sync', 'streaming'] as const)(
    'is answered by `reply` in mode %s, too',
    async (mode) => {
      const connector = connectorTo({ server: await start(), tool: 'ask' })
      const { types, result } = await ask({ connector, mode, reply: () => 'Ada' })
      expectOneEnd(types)
      expect(JSON.parse(result.output)).toEqual({ action: 'accept', content: { name: 'Ada' } })
    },
  )

  it('for several values is a form to the reviewer, in a conversation too', async () => {
    const content = { name: 'Ada', age: 36 }
    const reviewer = scriptedReviewer([{ action: 'EDIT', input: content }])
    const connector = connectorTo({ server: await start(), tool: 'form' })
    const { result } = await ask({ connector, mode: 'conversational', reviewer })
    expect(JSON.parse(result.output)).toEqual({ action: 'accept', content })
    expect(reviewer.requests).toMatchObject([{ inputSchema: { required: ['name', 'age'] } }])
  })

  it.each(['conversational', 'sync', 'streaming'] as const)(
    'is answered by the reviewer (%s)',
    async (mode) => {
      const input = mode === 'conversational' ? 'Ada' : { name: 'Ada' }
      const reviewer = scriptedReviewer([{ action: 'EDIT', input }])
      const connector = connectorTo({ server: await start(), tool: 'ask' })
      const { types, result } = await ask({ connector, mode, reviewer })
      expectOneEnd(types)
      expect(JSON.parse(result.output)).toEqual({ action: 'accept', content: { name: 'Ada' } })
      expect(reviewer.requests).toMatchObject([{ description: 'What is your name?' }])
    },
  )

  it('is declined where nobody answers, in every mode', async () => {
    const server = await start()
    for (const mode of ['sync', 'streaming', 'conversational'] as const) {
      const { result } = await ask({ connector: connectorTo({ server, tool: 'ask' }), mode })
      expect(JSON.parse(result.output)).toEqual({ action: 'decline' })
    }
  })

  it('that is left open ends the call, and the tool is told', async () => {
    const server = await start()
    const connector = connectorTo({ server, tool: 'ask' })
    const { types } = await ask({ connector, mode: 'conversational', reply: () => undefined })
    expectOneEnd(types)
    const { result } = await ask({
      connector: connectorTo({ server, tool: 'echo' }),
      input: { message: 'a' },
    })
    expect(result.output).toBe('{"message":"a"}')
  })
})

it('a question of the reference server is answered by `reply`', async () => {
  const server = { command: process.execPath, args: [EVERYTHING, 'stdio'] }
  const connector = connectorTo({ server, tool: 'trigger-elicitation-request' })
  const { result } = await ask({
    connector,
    mode: 'conversational',
    reply: () => ({ name: 'Ada' }),
  })
  expect(result.output).toContain('- Name: Ada')
})

/** Resolves when the one call of `wait` was told to stop, which over HTTP is a moment after it was said. */
async function hasStopped({ state }: McpTestServer): Promise<void> {
  if (state.stopped.length === 0) {
    await new Promise((resolve) => state.events.once('stopped', resolve))
  }
  expect(state.stopped).toHaveLength(1)
}

/** Lets the tool take its next step, as soon as it waits for that. */
async function goOn({ state }: McpTestServer, told: number): Promise<void> {
  while (state.calls.get('steps') === undefined || state.events.listenerCount('go') === 0) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (told >= 0) state.events.emit('go')
}
