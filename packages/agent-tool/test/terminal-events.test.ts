/** Tests that each try of an agent call emits consistent events with exactly one terminal event. */
import { runTool, TuttiError, type RunToolOptions } from '@tutti/core'
import type { TimedAgentReport } from '@tutti/core/internal'
import {
  AgentError,
  defineAgentTool,
  type AgentMode,
  type AgentToolDefinition,
  type AgentUpdate,
  type LocalAgentRequest,
} from '@tutti/agent-call/internal'
import { fakeClock, scriptedReviewer } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { openWireAgent, type Agent, type PeerRequest, type WireAgent } from './wire-agents.ts'

import type { FakeClock } from '@tutti/testing'
import type { ServerResponse } from 'node:http'

type Report<Type extends TimedAgentReport['type']> = Extract<TimedAgentReport, { type: Type }>

/** Controls that a case uses while its call is running. */
interface RunningCase extends WireAgent {
  readonly clock: FakeClock
  /** Resolves when `count` events have been reported. */
  readonly reported: (count: number) => Promise<void>
  readonly abort: (reason?: unknown) => void
}

/** One test case. */
interface Case {
  readonly title: string
  readonly mode: AgentMode
  readonly agent: Agent
  readonly settings?: Partial<AgentToolDefinition>
  readonly call?: RunToolOptions
  /** Remaining budget of the task and the run in US dollars. @default no limit */
  readonly remainingCostUsd?: number
  readonly act?: (scene: RunningCase) => Promise<void>
  /** End of each try: `completed`, or the reason or type of failure. */
  readonly ends: readonly string[]
  /** Pattern of the text for the model. */
  readonly text: RegExp
  /** Number of reported chunks in the last try. @default 0 */
  readonly chunks?: number
  /** Cost of all tries in US dollars. @default 0 */
  readonly cost?: number
  /** Number of cancels that the agent receives. @default 0 */
  readonly cancels?: number
}

const local = (answer: Extract<Agent, { wire: 'local' }>['answer']): Agent => ({
  wire: 'local',
  answer,
})
const tasks = (answer: (response: ServerResponse, turn: number) => void): Agent => ({
  wire: 'tasks',
  answer,
})
const json = (value: unknown, status = 200): Agent =>
  tasks((response) => response.writeHead(status).end(JSON.stringify(value)))
/** Creates an agent that streams lines; the stream stays open when the last line is undefined. */
const lines = (...all: readonly unknown[]): Agent =>
  tasks((response) => {
    for (const line of all) {
      if (line === undefined) return
      response.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
    }
    response.end()
  })
const task = (answer: (asked: PeerRequest) => void): Agent => ({ wire: 'task', answer })
const tool = (answer: (asked: PeerRequest) => void): Agent => ({ wire: 'tool', answer })
const accept = ({ connection, requestId }: PeerRequest): void => {
  connection.send({ type: 'task_accepted', requestId, runId: 'run-1' })
}
const respond = ({ connection, requestId }: PeerRequest, fields: object): void => {
  connection.send({ type: 'task_response', requestId, ...fields })
}

/** Waits until its signal aborts. */
function hang({ signal }: LocalAgentRequest): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('stopped'))
    })
  })
}

/** Yields one chunk per cost and then returns the result of `last`. */
async function* yieldCosts(
  costs: readonly number[],
  last: () => unknown = () => 'all',
): AsyncGenerator<AgentUpdate, unknown> {
  for (const [index, costUsd] of costs.entries()) {
    yield { kind: 'chunk', chunk: index, usage: { costUsd, inputTokens: 10, outputTokens: 5 } }
  }
  return await last()
}

const asks = { kind: 'end', state: 'input_required', output: 'Which?', question: 'Which?' } as const
const busy = (): never => {
  throw new AgentError('Busy', { failureType: 'http_error', retryable: true })
}
const afterIdle = async ({ asked, reported, clock }: RunningCase): Promise<void> => {
  await asked
  await reported(2)
  await clock.advance(30_000)
}

const CASES: readonly Case[] = [
  // An agent of this process.
  {
    title: 'answers',
    mode: 'sync',
    agent: local(() => 'Hi'),
    ends: ['completed'],
    text: /^Hi$/,
  },
  {
    title: 'answers and reports its cost',
    mode: 'sync',
    agent: local(() => ({
      kind: 'end',
      state: 'completed',
      output: 'Hi',
      usage: { costUsd: 0.25 },
    })),
    ends: ['completed'],
    text: /^Hi$/,
    cost: 0.25,
  },
  {
    title: 'answers with undefined',
    mode: 'sync',
    agent: local(() => undefined),
    ends: ['completed'],
    text: /^(null)?$/,
  },
  {
    title: 'throws',
    mode: 'sync',
    agent: local(() => {
      throw new Error('No idea')
    }),
    ends: ['agent_failed'],
    text: /The agent failed: No idea/,
  },
  {
    title: 'takes too long',
    mode: 'sync',
    agent: local(hang),
    act: async ({ asked, clock }) => {
      await asked
      await clock.advance(30_000)
    },
    ends: ['timeout'],
    text: /it took longer than 30000 ms/,
    cancels: 1,
  },
  {
    title: 'exceeds the cost limit',
    mode: 'sync',
    agent: local(() => ({ kind: 'end', state: 'completed', output: 'Hi', usage: { costUsd: 2 } })),
    settings: { maxCostUsd: 1 },
    ends: ['budget_exceeded'],
    text: /its cost of 2 USD exceeds the limit of 1/,
    cost: 2,
  },
  {
    title: 'is cancelled',
    mode: 'sync',
    agent: local(hang),
    act: async ({ asked, abort }) => {
      await asked
      abort()
    },
    ends: ['cancelled'],
    text: /cancelled/,
    cancels: 1,
  },
  {
    title: 'is cancelled before it is called',
    mode: 'sync',
    agent: local(() => 'Hi'),
    call: { signal: AbortSignal.abort() },
    ends: [],
    text: /cancelled/,
  },
  {
    title: 'is cancelled after it has answered',
    mode: 'sync',
    agent: local(() => 'Hi'),
    act: async ({ reported, abort }) => {
      await reported(2)
      abort()
    },
    ends: ['completed'],
    text: /^Hi$|cancelled/,
  },
  {
    title: 'is aborted by the timeout of its task',
    mode: 'streaming',
    agent: local((request) => yieldCosts([0.1], () => hang(request))),
    act: async ({ reported, abort }) => {
      await reported(2)
      abort(new TuttiError('TASK_TIMEOUT', 'late'))
    },
    ends: ['timeout'],
    text: /./,
    chunks: 1,
    cost: 0.1,
    cancels: 1,
  },
  {
    title: 'is aborted because the budget of its run is used up',
    mode: 'sync',
    agent: local(hang),
    act: async ({ asked, abort }) => {
      await asked
      abort(new TuttiError('BUDGET_EXCEEDED', 'spent'))
    },
    ends: ['budget_exceeded'],
    text: /./,
    cancels: 1,
  },
  {
    title: 'is cancelled and does not stop',
    mode: 'sync',
    agent: local(() => new Promise(() => undefined)),
    act: async ({ asked, abort, clock }) => {
      await asked
      abort()
      await turn()
      await clock.advance(5_000)
    },
    ends: ['cancelled'],
    text: /abandoned: it ignored its signal/,
    cancels: 1,
  },
  {
    title: 'asks a question without a reviewer',
    mode: 'sync',
    agent: local(() => asks),
    ends: ['input_required'],
    text: /without a reviewer: Which\?/,
  },
  {
    title: 'asks a question that the reviewer answers',
    mode: 'sync',
    agent: local((_request, turn) => (turn === 0 ? asks : 'That one')),
    call: { reviewer: scriptedReviewer([{ action: 'EDIT', input: 'This' }]) },
    ends: ['completed'],
    text: /^That one$/,
  },
  {
    title: 'is busy and then answers',
    mode: 'sync',
    agent: local((_request, turn) => (turn < 2 ? busy() : 'Hi')),
    settings: { retries: 2, retryDelayMs: 0 },
    ends: ['http_error', 'http_error', 'completed'],
    text: /^Hi$/,
  },
  {
    title: 'is busy in every try',
    mode: 'sync',
    agent: local(busy),
    settings: { retries: 1, retryDelayMs: 0 },
    ends: ['http_error', 'http_error'],
    text: /Busy/,
  },
  {
    title: 'exceeds the cost limit over several tries',
    mode: 'streaming',
    agent: local(() => yieldCosts([0.4], busy)),
    settings: { retries: 5, retryDelayMs: 0, maxCostUsd: 1 },
    ends: ['http_error', 'http_error', 'budget_exceeded'],
    text: /its cost of 1\.2\d* USD exceeds the limit of 1/,
    chunks: 1,
    cost: 1.2,
    cancels: 1,
  },
  {
    title: 'fails with an error that is not retryable',
    mode: 'sync',
    agent: local(() => {
      throw new Error('No')
    }),
    settings: { retries: 3, retryDelayMs: 0 },
    ends: ['agent_failed'],
    text: /No/,
  },
  {
    title: 'streams',
    mode: 'streaming',
    agent: local(() => yieldCosts([0.1, 0.2, 0.3])),
    ends: ['completed'],
    text: /^all$/,
    chunks: 3,
    cost: 0.6,
  },
  {
    title: 'fails in the middle of a stream',
    mode: 'streaming',
    agent: local(() => yieldCosts([0.1, 0.2], () => Promise.reject(new Error('No more')))),
    ends: ['agent_failed'],
    text: /No more\nPartial output: \[0,1\]/,
    chunks: 2,
    cost: 0.3,
  },
  {
    title: 'exceeds the cost limit in a stream',
    mode: 'streaming',
    agent: local(() => yieldCosts([0.5, 0.5, 0.1, 0.1])),
    settings: { maxCostUsd: 1 },
    ends: ['budget_exceeded'],
    text: /exceeds the limit of 1/,
    chunks: 3,
    cost: 1.1,
    cancels: 1,
  },
  {
    title: 'reaches the cost limit exactly',
    mode: 'streaming',
    agent: local(() => yieldCosts([0.5, 0.5])),
    settings: { maxCostUsd: 1 },
    ends: ['completed'],
    text: /^all$/,
    chunks: 2,
    cost: 1,
  },
  {
    title: 'exceeds the remaining budget of the run in a stream',
    mode: 'streaming',
    agent: local(() => yieldCosts([0.2, 0.2])),
    remainingCostUsd: 0.2,
    ends: ['budget_exceeded'],
    text: /exhausted the budget above it/,
    chunks: 1,
    cost: 0.2,
    cancels: 1,
  },
  {
    title: 'exceeds the token limit in a stream',
    mode: 'streaming',
    agent: local(() => yieldCosts([0, 0, 0])),
    settings: { maxTokens: 30 },
    ends: ['budget_exceeded'],
    text: /its 45 tokens exceed the limit of 30/,
    chunks: 3,
    cancels: 1,
  },
  {
    title: 'is silent in the middle of a stream',
    mode: 'streaming',
    agent: local((request) => yieldCosts([0.1], () => hang(request))),
    act: afterIdle,
    ends: ['idle_timeout'],
    text: /no data arrived for 30000 ms/,
    chunks: 1,
    cost: 0.1,
    cancels: 1,
  },
  {
    title: 'is silent from the start of a stream',
    mode: 'streaming',
    agent: local(hang),
    act: async ({ asked, clock }) => {
      await asked
      await clock.advance(30_000)
    },
    ends: ['idle_timeout'],
    text: /no data arrived for 30000 ms/,
    cancels: 1,
  },
  {
    title: 'completes after three turns',
    mode: 'conversational',
    agent: local((_request, turn) =>
      turn < 2 ? { kind: 'end', state: 'open', output: `Draft ${turn}` } : 'Final',
    ),
    ends: ['completed'],
    text: /^Final$/,
  },
  {
    title: 'never completes',
    mode: 'conversational',
    agent: local((_request, turn) => ({ kind: 'end', state: 'open', output: `Draft ${turn}` })),
    settings: { maxTurns: 3 },
    ends: ['completed'],
    text: /^Draft 2$/,
  },
  {
    title: 'gets a reply that throws',
    mode: 'conversational',
    agent: local(() => ({ kind: 'end', state: 'open', output: 'Draft' })),
    settings: {
      reply: () => {
        throw new Error('Speechless')
      },
    },
    ends: ['configuration'],
    text: /The reply to turn 0 failed: Speechless/,
  },
  {
    title: 'takes too long in its second turn',
    mode: 'conversational',
    agent: local((request, turn) =>
      turn === 0 ? { kind: 'end', state: 'open', output: 'Draft' } : hang(request),
    ),
    act: async ({ reported, clock }) => {
      await reported(4)
      await clock.advance(30_000)
    },
    ends: ['timeout'],
    text: /it took longer than 30000 ms/,
    cancels: 1,
  },
  // The tasks wire.
  {
    title: 'answers',
    mode: 'sync',
    agent: json({ status: 'completed', output: 'Hi', cost_usd: 0.5 }),
    ends: ['completed'],
    text: /^Hi$/,
    cost: 0.5,
  },
  {
    title: 'answers in an envelope',
    mode: 'sync',
    agent: json({ jsonrpc: '2.0', result: { output: 'Hi' } }),
    ends: ['completed'],
    text: /^Hi$/,
  },
  {
    title: 'answers with an error in a 200',
    mode: 'sync',
    agent: json({ jsonrpc: '2.0', error: { code: -32_000, message: 'Out of order' } }),
    ends: ['agent_failed'],
    text: /Out of order/,
  },
  {
    title: 'reports that it failed',
    mode: 'sync',
    agent: json({ status: 'failed', message: 'No idea' }),
    ends: ['agent_failed'],
    text: /The agent failed: No idea/,
  },
  {
    title: 'answers with an HTTP error',
    mode: 'sync',
    agent: json({ error: 'No' }, 404),
    ends: ['http_error'],
    text: /Agent returned error 404 Not Found/,
  },
  {
    title: 'answers 503 and then succeeds',
    mode: 'sync',
    agent: tasks((response, turn) =>
      response.writeHead(turn === 0 ? 503 : 200).end('{"output":"Hi"}'),
    ),
    settings: { retries: 1, retryDelayMs: 0 },
    ends: ['http_error', 'completed'],
    text: /^Hi$/,
  },
  {
    title: 'answers with a body that is not JSON',
    mode: 'sync',
    agent: tasks((response) => response.end('<html>')),
    ends: ['invalid_response'],
    text: /./,
  },
  {
    title: 'resets the connection before the answer',
    mode: 'sync',
    agent: tasks((response) => response.destroy()),
    ends: ['connection_lost'],
    text: /was lost/,
  },
  {
    title: 'cannot be reached',
    mode: 'sync',
    agent: json({}),
    ends: ['unreachable'],
    text: /the connection was refused/,
  },
  {
    title: 'takes too long',
    mode: 'sync',
    agent: lines(undefined),
    act: async ({ asked, clock }) => {
      await asked
      await clock.advance(30_000)
    },
    ends: ['timeout'],
    text: /it took longer than 30000 ms/,
    // The task id is not known yet.
    cancels: 0,
  },
  {
    title: 'streams',
    mode: 'streaming',
    agent: lines({ id: 't', cost_usd: 0.1 }, 'not json', { output: 'Hi', cost_usd: 0.2 }),
    ends: ['completed'],
    text: /^Hi$/,
    chunks: 3,
    cost: 0.3,
  },
  {
    title: 'exceeds the cost limit in a stream',
    mode: 'streaming',
    agent: lines({ id: 't', cost_usd: 0.6 }, { cost_usd: 0.6 }, { cost_usd: 0.6 }, undefined),
    settings: { maxCostUsd: 1 },
    ends: ['budget_exceeded'],
    text: /exceeds the limit of 1/,
    chunks: 2,
    cost: 1.2,
    cancels: 1,
  },
  {
    title: 'exceeds the remaining budget of the run in a stream',
    mode: 'streaming',
    agent: lines({ id: 't', total_cost_usd: 0.6 }, undefined),
    remainingCostUsd: 0.5,
    ends: ['budget_exceeded'],
    text: /exhausted the budget above it/,
    chunks: 1,
    cost: 0.6,
    cancels: 1,
  },
  {
    title: 'is silent in the middle of a stream',
    mode: 'streaming',
    agent: lines({ id: 't', cost_usd: 0.1 }, undefined),
    act: afterIdle,
    ends: ['idle_timeout'],
    text: /no data arrived for 30000 ms\nPartial output: /,
    chunks: 1,
    cost: 0.1,
    cancels: 1,
  },
  {
    title: 'resets the connection in the middle of a stream',
    mode: 'streaming',
    agent: tasks((response) => {
      response.write('{"id":"t"}\n{"n":1}\n', () => setImmediate(() => response.destroy()))
    }),
    ends: ['connection_lost'],
    text: /was lost/,
    chunks: 2,
    cancels: 1,
  },
  {
    title: 'is cancelled in the middle of a stream',
    mode: 'streaming',
    agent: lines({ id: 't' }, undefined),
    act: async ({ reported, abort }) => {
      await reported(2)
      abort()
    },
    ends: ['cancelled'],
    text: /cancelled/,
    chunks: 1,
    cancels: 1,
  },
  {
    title: 'is running when the tool is closed',
    mode: 'streaming',
    agent: lines({ id: 't' }, undefined),
    act: async ({ reported, connector }) => {
      await reported(2)
      await connector.close?.()
    },
    ends: ['connection_lost'],
    text: /./,
    chunks: 1,
    cancels: 1,
  },
  {
    title: 'asks a question without a reviewer',
    mode: 'sync',
    agent: json({ id: 't', status: 'input-required', message: 'Which?' }),
    ends: ['input_required'],
    text: /Which\?/,
    cancels: 1,
  },
  {
    title: 'gets its own output back until it completes',
    mode: 'conversational',
    agent: tasks((response, turn) =>
      response.end(JSON.stringify({ status: turn < 2 ? 'working' : 'completed', output: turn })),
    ),
    ends: ['completed'],
    text: /2/,
  },
  // A peer over a WebSocket.
  {
    title: 'answers',
    mode: 'sync',
    agent: task((asked) => {
      accept(asked)
      respond(asked, { status: 'COMPLETED', result: 'Hi' })
    }),
    ends: ['completed'],
    text: /^Hi$/,
  },
  {
    title: 'reports progress and answers',
    mode: 'streaming',
    agent: task((asked) => {
      accept(asked)
      asked.connection.send({ type: 'task_progress', requestId: asked.requestId, message: 'Half' })
      respond(asked, { status: 'COMPLETED', result: 'Hi' })
    }),
    ends: ['completed'],
    text: /^Hi$/,
    chunks: 2,
  },
  {
    title: 'fails',
    mode: 'streaming',
    agent: task((asked) => {
      accept(asked)
      respond(asked, { status: 'FAILED', error: 'No voice' })
    }),
    ends: ['agent_failed'],
    text: /The task "agent" of the peer failed: No voice/,
    chunks: 1,
  },
  {
    title: 'does not know the task',
    mode: 'conversational',
    agent: task((asked) => respond(asked, { status: 'REJECTED', error: 'INVALID_ENSEMBLE: No' })),
    ends: ['configuration'],
    text: /INVALID_ENSEMBLE: No/,
    cancels: 0,
  },
  {
    title: 'loses the connection twice',
    mode: 'streaming',
    agent: task((asked) => {
      accept(asked)
      asked.connection.socket.close(1013, 'Slow')
    }),
    ends: ['connection_lost'],
    text: /closed with code 1013 "Slow"/,
    chunks: 1,
    cancels: 1,
  },
  {
    title: 'loses the connection once',
    mode: 'streaming',
    agent: task((asked) => {
      accept(asked)
      if (asked.turn === 0) asked.connection.socket.terminate()
      else respond(asked, { status: 'COMPLETED', result: 'Hi' })
    }),
    ends: ['completed'],
    text: /^Hi$/,
    chunks: 1,
  },
  {
    title: 'is silent',
    mode: 'streaming',
    agent: task(accept),
    act: afterIdle,
    ends: ['idle_timeout'],
    text: /no data arrived/,
    chunks: 1,
    cancels: 1,
  },
  {
    title: 'sends an invalid message',
    mode: 'sync',
    agent: task((asked) => respond(asked, { status: 'MAYBE' })),
    ends: ['invalid_response'],
    text: /invalid "task_response"/,
  },
  {
    title: 'is cancelled while its tool is running',
    mode: 'sync',
    agent: tool(() => undefined),
    act: async ({ asked, abort }) => {
      await asked
      abort()
    },
    ends: ['cancelled'],
    text: /cancelled/,
    cancels: 1,
  },
  {
    title: 'loses the connection while its tool is running and answers the next try',
    mode: 'sync',
    agent: tool(({ connection, requestId, turn }) => {
      if (turn === 0) connection.socket.terminate()
      else connection.send({ type: 'tool_response', requestId, status: 'COMPLETED', result: 'Hi' })
    }),
    settings: { retries: 1, retryDelayMs: 0 },
    ends: ['connection_lost', 'completed'],
    text: /^Hi$/,
    // A tool call is cancelled by closing its connection.
    cancels: 1,
  },
]

describe.each(CASES.map((one): [string, Case] => [`${one.agent.wire}, ${one.mode}`, one]))(
  'an agent (%s)',
  (_title, one) => {
    it(`The agent tool emits one terminal event per try when it ${one.title} (${one.ends.join(', ') || 'no try'})`, async () => {
      await using outcome = await runCase(one)
      assertEvents(outcome, one)
    })
  },
)

interface CaseOutcome extends AsyncDisposable {
  readonly events: readonly TimedAgentReport[]
  readonly text: string
  readonly isSuccess: boolean
  readonly cancels: number
}

async function runCase(one: Case): Promise<CaseOutcome> {
  const agent = await openWireAgent(one.agent)
  const controller = new AbortController()
  const events: TimedAgentReport[] = []
  const watchers = new Set<() => void>()
  const clock = fakeClock()
  const isUnreachable = one.ends[0] === 'unreachable'
  if (isUnreachable) await agent[Symbol.asyncDispose]()
  const agentTool = defineAgentTool({
    name: 'agent',
    description: 'Answers',
    mode: one.mode,
    ...one.settings,
    connector: agent.connector,
  })
  const calling = runTool(
    agentTool,
    { id: crypto.randomUUID(), name: 'agent', arguments: '{"input":"hello"}' },
    {
      signal: controller.signal,
      onAgentReport: (_call, report) => {
        events.push(report)
        for (const watcher of watchers) watcher()
      },
      remaining: () => ({
        timeMs: Infinity,
        costUsd: (one.remainingCostUsd ?? Infinity) - sumCost(events),
        tokens: Infinity,
      }),
      ...(one.act === undefined ? {} : { clock }),
      ...one.call,
    },
  )
  await one.act?.({
    ...agent,
    clock,
    abort: (reason) => {
      controller.abort(reason)
    },
    reported: (count) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (events.length >= count) resolve()
        }
        watchers.add(check)
        check()
      }),
  })
  const { result, error } = await calling
  const count = events.length
  while (agent.cancels() < (one.cancels ?? 0)) await turn()
  // Pending events would have arrived by now: none may follow.
  await turn()
  expect(events).toHaveLength(count)
  return {
    events,
    text: result.success ? result.output : `${result.errorMessage} ${String(error)}`,
    isSuccess: result.success,
    cancels: agent.cancels(),
    async [Symbol.asyncDispose]() {
      if (!isUnreachable) await agent[Symbol.asyncDispose]()
    },
  }
}

function assertEvents({ events, text, isSuccess, cancels }: CaseOutcome, one: Case): void {
  const tries = one.ends.map((_end, index) =>
    events.filter(({ retry_index: retry }) => retry === index),
  )
  expect(tries.flat()).toEqual(events)
  expect(tries.map(readEnd)).toEqual(one.ends)
  for (const tried of tries) assertTry(tried, one.mode)
  const last = tries.at(-1) ?? []
  expect(last.filter(isProgress)).toHaveLength(one.chunks ?? 0)
  expect(sumCost(events)).toBeCloseTo(one.cost ?? 0, 9)
  const times = events.map(({ timestamp_ms: at }) => at)
  expect(times.toSorted((a, b) => a - b)).toEqual(times)
  expect(text).toMatch(one.text)
  expect(isSuccess).toBe(one.ends.at(-1) === 'completed' && !text.includes('cancelled'))
  expect(cancels).toBe(one.cancels ?? 0)
}

/** Asserts that a try begins once and ends once, and that its counts and costs are consistent. */
function assertTry(events: readonly TimedAgentReport[], mode: AgentMode): void {
  const types = events.map(({ type }) => type.replace('agent_tool_', ''))
  const isEnd = (type: string): boolean => ['completed', 'terminated', 'error'].includes(type)
  expect(types.indexOf('invoked')).toBe(0)
  expect(types.lastIndexOf('invoked')).toBe(0)
  expect(types.findIndex(isEnd)).toBe(types.length - 1)
  const chunks = events.filter(isProgress)
  expect(chunks.map(({ chunk_index: index }) => index)).toEqual(chunks.map((_, index) => index))
  if (mode !== 'streaming') expect(chunks).toEqual([])
  if (mode !== 'conversational') expect(types).not.toContain('turn')
  const end = events.at(-1)
  if (end === undefined || !('chunks_received' in end)) throw new Error('Expected a terminal event')
  if (mode === 'streaming') expect(end.chunks_received).toBe(chunks.length)
  let cost = 0
  for (const event of events) {
    cost += event.cost_usd ?? 0
    if (event.type === 'agent_tool_progress') {
      expect(event.accumulated_cost_usd).toBeCloseTo(cost, 9)
    }
  }
  const total = 'total_cost' in end ? end.total_cost : end.accumulated_cost_usd
  expect(total).toBeCloseTo(cost, 9)
}

function readEnd(events: readonly TimedAgentReport[]): string | undefined {
  const end = events.at(-1)
  if (end?.type === 'agent_tool_terminated') return end.reason
  if (end?.type === 'agent_tool_error') return end.failure_type
  return end?.type.replace('agent_tool_', '')
}

/** Adds up the cost of all events. */
function sumCost(events: readonly TimedAgentReport[]): number {
  return events.reduce((sum, { cost_usd: costUsd = 0 }) => sum + costUsd, 0)
}

/** Waits for one turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function isProgress(event: TimedAgentReport): event is Report<'agent_tool_progress'> {
  return event.type === 'agent_tool_progress'
}
