/** Whatever happens to a call of an agent, its events are one story with one end. */
import { runTool, TuttiError, type RunToolOptions, type TimedAgentReport } from '@tutti/core'
import {
  AgentError,
  defineAgentTool,
  type AgentMode,
  type AgentToolDefinition,
  type AgentUpdate,
  type LocalAgentRequest,
} from '@tutti/agent-call'
import { fakeClock, scriptedReviewer } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { openWireAgent, type Agent, type PeerAsked, type WireAgent } from './wire-agents.ts'

import type { FakeClock } from '@tutti/testing'
import type { ServerResponse } from 'node:http'

type Report<Type extends TimedAgentReport['type']> = Extract<TimedAgentReport, { type: Type }>

/** What a test does while a call is under way. */
interface Scene extends WireAgent {
  readonly clock: FakeClock
  /** Resolves when so many events were told. */
  readonly told: (count: number) => Promise<void>
  readonly abort: (reason?: unknown) => void
}

/** One thing that happens. */
interface Case {
  readonly what: string
  readonly mode: AgentMode
  readonly agent: Agent
  readonly settings?: Partial<AgentToolDefinition>
  readonly call?: RunToolOptions
  /** What the task and the run have left for it, in US dollars. @default no limit */
  readonly leftAbove?: number
  readonly act?: (scene: Scene) => Promise<void>
  /** How each try ends: `completed`, or the reason or type of failure. */
  readonly ends: readonly string[]
  /** What the model reads. */
  readonly says: RegExp
  /** Chunks that are told of, in the last try. @default 0 */
  readonly chunks?: number
  /** What all tries cost, in US dollars. @default 0 */
  readonly cost?: number
  /** How often the agent is told to stop. @default 0 */
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
/** A stream of lines; it stays open when the last is undefined. */
const lines = (...all: readonly unknown[]): Agent =>
  tasks((response) => {
    for (const line of all) {
      if (line === undefined) return
      response.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
    }
    response.end()
  })
const task = (answer: (asked: PeerAsked) => void): Agent => ({ wire: 'task', answer })
const tool = (answer: (asked: PeerAsked) => void): Agent => ({ wire: 'tool', answer })
const accept = ({ connection, requestId }: PeerAsked): void => {
  connection.send({ type: 'task_accepted', requestId, runId: 'run-1' })
}
const respond = ({ connection, requestId }: PeerAsked, facts: object): void => {
  connection.send({ type: 'task_response', requestId, ...facts })
}

/** Waits for its signal. */
function hang({ signal }: LocalAgentRequest): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('stopped'))
    })
  })
}

/** Tells of chunks, each with a cost, and then does as it is told. */
async function* costing(
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
const afterIdle = async ({ asked, told, clock }: Scene): Promise<void> => {
  await asked
  await told(2)
  await clock.advance(30_000)
}

const CASES: readonly Case[] = [
  // An agent of this process.
  {
    what: 'answers',
    mode: 'sync',
    agent: local(() => 'Hi'),
    ends: ['completed'],
    says: /^Hi$/,
  },
  {
    what: 'answers with what it cost',
    mode: 'sync',
    agent: local(() => ({
      kind: 'end',
      state: 'completed',
      output: 'Hi',
      usage: { costUsd: 0.25 },
    })),
    ends: ['completed'],
    says: /^Hi$/,
    cost: 0.25,
  },
  {
    what: 'answers with nothing',
    mode: 'sync',
    agent: local(() => undefined),
    ends: ['completed'],
    says: /^(null)?$/,
  },
  {
    what: 'throws',
    mode: 'sync',
    agent: local(() => {
      throw new Error('No idea')
    }),
    ends: ['agent_failed'],
    says: /The agent failed: No idea/,
  },
  {
    what: 'takes too long',
    mode: 'sync',
    agent: local(hang),
    act: async ({ asked, clock }) => {
      await asked
      await clock.advance(30_000)
    },
    ends: ['timeout'],
    says: /it took longer than 30000 ms/,
    cancels: 1,
  },
  {
    what: 'costs more than it may',
    mode: 'sync',
    agent: local(() => ({ kind: 'end', state: 'completed', output: 'Hi', usage: { costUsd: 2 } })),
    settings: { maxCostUsd: 1 },
    ends: ['budget_exceeded'],
    says: /its cost of 2 USD exceeds the limit of 1/,
    cost: 2,
  },
  {
    what: 'is cancelled',
    mode: 'sync',
    agent: local(hang),
    act: async ({ asked, abort }) => {
      await asked
      abort()
    },
    ends: ['cancelled'],
    says: /cancelled/,
    cancels: 1,
  },
  {
    what: 'is cancelled before it is asked',
    mode: 'sync',
    agent: local(() => 'Hi'),
    call: { signal: AbortSignal.abort() },
    ends: [],
    says: /cancelled/,
  },
  {
    what: 'is cancelled after it has answered',
    mode: 'sync',
    agent: local(() => 'Hi'),
    act: async ({ told, abort }) => {
      await told(2)
      abort()
    },
    ends: ['completed'],
    says: /^Hi$|cancelled/,
  },
  {
    what: 'is ended with its task, whose time is over',
    mode: 'streaming',
    agent: local((request) => costing([0.1], () => hang(request))),
    act: async ({ told, abort }) => {
      await told(2)
      abort(new TuttiError('TASK_TIMEOUT', 'late'))
    },
    ends: ['timeout'],
    says: /./,
    chunks: 1,
    cost: 0.1,
    cancels: 1,
  },
  {
    what: 'is ended with its run, whose budget is used up',
    mode: 'sync',
    agent: local(hang),
    act: async ({ asked, abort }) => {
      await asked
      abort(new TuttiError('BUDGET_EXCEEDED', 'spent'))
    },
    ends: ['budget_exceeded'],
    says: /./,
    cancels: 1,
  },
  {
    what: 'is cancelled, and does not stop',
    mode: 'sync',
    agent: local(() => new Promise(() => undefined)),
    act: async ({ asked, abort, clock }) => {
      await asked
      abort()
      await turn()
      await clock.advance(5_000)
    },
    ends: ['cancelled'],
    says: /abandoned: it ignored its signal/,
    cancels: 1,
  },
  {
    what: 'asks, and nobody is there',
    mode: 'sync',
    agent: local(() => asks),
    ends: ['input_required'],
    says: /without a reviewer: Which\?/,
  },
  {
    what: 'asks, and the reviewer answers',
    mode: 'sync',
    agent: local((_request, turn) => (turn === 0 ? asks : 'That one')),
    call: { reviewer: scriptedReviewer([{ action: 'EDIT', input: 'This' }]) },
    ends: ['completed'],
    says: /^That one$/,
  },
  {
    what: 'is busy, and then answers',
    mode: 'sync',
    agent: local((_request, turn) => (turn < 2 ? busy() : 'Hi')),
    settings: { retries: 2, retryDelayMs: 0 },
    ends: ['http_error', 'http_error', 'completed'],
    says: /^Hi$/,
  },
  {
    what: 'is busy to the end',
    mode: 'sync',
    agent: local(busy),
    settings: { retries: 1, retryDelayMs: 0 },
    ends: ['http_error', 'http_error'],
    says: /Busy/,
  },
  {
    what: 'costs more than it may over several tries',
    mode: 'streaming',
    agent: local(() => costing([0.4], busy)),
    settings: { retries: 5, retryDelayMs: 0, maxCostUsd: 1 },
    ends: ['http_error', 'http_error', 'budget_exceeded'],
    says: /its cost of 1\.2\d* USD exceeds the limit of 1/,
    chunks: 1,
    cost: 1.2,
    cancels: 1,
  },
  {
    what: 'fails for good in spite of retries',
    mode: 'sync',
    agent: local(() => {
      throw new Error('No')
    }),
    settings: { retries: 3, retryDelayMs: 0 },
    ends: ['agent_failed'],
    says: /No/,
  },
  {
    what: 'streams',
    mode: 'streaming',
    agent: local(() => costing([0.1, 0.2, 0.3])),
    ends: ['completed'],
    says: /^all$/,
    chunks: 3,
    cost: 0.6,
  },
  {
    what: 'fails in the middle of a stream',
    mode: 'streaming',
    agent: local(() => costing([0.1, 0.2], () => Promise.reject(new Error('No more')))),
    ends: ['agent_failed'],
    says: /No more\nPartial output: \[0,1\]/,
    chunks: 2,
    cost: 0.3,
  },
  {
    what: 'streams more than it may cost',
    mode: 'streaming',
    agent: local(() => costing([0.5, 0.5, 0.1, 0.1])),
    settings: { maxCostUsd: 1 },
    ends: ['budget_exceeded'],
    says: /exceeds the limit of 1/,
    chunks: 3,
    cost: 1.1,
    cancels: 1,
  },
  {
    what: 'streams as much as it may cost',
    mode: 'streaming',
    agent: local(() => costing([0.5, 0.5])),
    settings: { maxCostUsd: 1 },
    ends: ['completed'],
    says: /^all$/,
    chunks: 2,
    cost: 1,
  },
  {
    what: 'streams more than is left above it',
    mode: 'streaming',
    agent: local(() => costing([0.2, 0.2])),
    leftAbove: 0.2,
    ends: ['budget_exceeded'],
    says: /exhausted the budget above it/,
    chunks: 1,
    cost: 0.2,
    cancels: 1,
  },
  {
    what: 'streams more tokens than it may',
    mode: 'streaming',
    agent: local(() => costing([0, 0, 0])),
    settings: { maxTokens: 30 },
    ends: ['budget_exceeded'],
    says: /its 45 tokens exceed the limit of 30/,
    chunks: 3,
    cancels: 1,
  },
  {
    what: 'is silent in the middle of a stream',
    mode: 'streaming',
    agent: local((request) => costing([0.1], () => hang(request))),
    act: afterIdle,
    ends: ['idle_timeout'],
    says: /no data arrived for 30000 ms/,
    chunks: 1,
    cost: 0.1,
    cancels: 1,
  },
  {
    what: 'is silent from the beginning of a stream',
    mode: 'streaming',
    agent: local(hang),
    act: async ({ asked, clock }) => {
      await asked
      await clock.advance(30_000)
    },
    ends: ['idle_timeout'],
    says: /no data arrived for 30000 ms/,
    cancels: 1,
  },
  {
    what: 'is done after three turns',
    mode: 'conversational',
    agent: local((_request, turn) =>
      turn < 2 ? { kind: 'end', state: 'open', output: `Draft ${turn}` } : 'Final',
    ),
    ends: ['completed'],
    says: /^Final$/,
  },
  {
    what: 'is never done',
    mode: 'conversational',
    agent: local((_request, turn) => ({ kind: 'end', state: 'open', output: `Draft ${turn}` })),
    settings: { maxTurns: 3 },
    ends: ['completed'],
    says: /^Draft 2$/,
  },
  {
    what: 'gets a reply that throws',
    mode: 'conversational',
    agent: local(() => ({ kind: 'end', state: 'open', output: 'Draft' })),
    settings: {
      reply: () => {
        throw new Error('Speechless')
      },
    },
    ends: ['configuration'],
    says: /The reply to turn 0 failed: Speechless/,
  },
  {
    what: 'takes too long in its second turn',
    mode: 'conversational',
    agent: local((request, turn) =>
      turn === 0 ? { kind: 'end', state: 'open', output: 'Draft' } : hang(request),
    ),
    act: async ({ told, clock }) => {
      await told(4)
      await clock.advance(30_000)
    },
    ends: ['timeout'],
    says: /it took longer than 30000 ms/,
    cancels: 1,
  },
  // The tasks wire.
  {
    what: 'answers',
    mode: 'sync',
    agent: json({ status: 'completed', output: 'Hi', cost_usd: 0.5 }),
    ends: ['completed'],
    says: /^Hi$/,
    cost: 0.5,
  },
  {
    what: 'answers in an envelope',
    mode: 'sync',
    agent: json({ jsonrpc: '2.0', result: { output: 'Hi' } }),
    ends: ['completed'],
    says: /^Hi$/,
  },
  {
    what: 'answers with an error in a 200',
    mode: 'sync',
    agent: json({ jsonrpc: '2.0', error: { code: -32_000, message: 'Out of order' } }),
    ends: ['agent_failed'],
    says: /Out of order/,
  },
  {
    what: 'says that it failed',
    mode: 'sync',
    agent: json({ status: 'failed', message: 'No idea' }),
    ends: ['agent_failed'],
    says: /The agent failed: No idea/,
  },
  {
    what: 'answers with an HTTP error',
    mode: 'sync',
    agent: json({ error: 'No' }, 404),
    ends: ['http_error'],
    says: /Agent returned error 404 Not Found/,
  },
  {
    what: 'is down, and then answers',
    mode: 'sync',
    agent: tasks((response, turn) =>
      response.writeHead(turn === 0 ? 503 : 200).end('{"output":"Hi"}'),
    ),
    settings: { retries: 1, retryDelayMs: 0 },
    ends: ['http_error', 'completed'],
    says: /^Hi$/,
  },
  {
    what: 'answers with what is not JSON',
    mode: 'sync',
    agent: tasks((response) => response.end('<html>')),
    ends: ['invalid_response'],
    says: /./,
  },
  {
    what: 'resets the connection instead of an answer',
    mode: 'sync',
    agent: tasks((response) => response.destroy()),
    ends: ['connection_lost'],
    says: /was lost/,
  },
  {
    what: 'cannot be reached',
    mode: 'sync',
    agent: json({}),
    ends: ['unreachable'],
    says: /the connection was refused/,
  },
  {
    what: 'takes too long',
    mode: 'sync',
    agent: lines(undefined),
    act: async ({ asked, clock }) => {
      await asked
      await clock.advance(30_000)
    },
    ends: ['timeout'],
    says: /it took longer than 30000 ms/,
    // Nobody knows the id of the task yet.
    cancels: 0,
  },
  {
    what: 'streams',
    mode: 'streaming',
    agent: lines({ id: 't', cost_usd: 0.1 }, 'not json', { output: 'Hi', cost_usd: 0.2 }),
    ends: ['completed'],
    says: /^Hi$/,
    chunks: 3,
    cost: 0.3,
  },
  {
    what: 'streams more than it may cost',
    mode: 'streaming',
    agent: lines({ id: 't', cost_usd: 0.6 }, { cost_usd: 0.6 }, { cost_usd: 0.6 }, undefined),
    settings: { maxCostUsd: 1 },
    ends: ['budget_exceeded'],
    says: /exceeds the limit of 1/,
    chunks: 2,
    cost: 1.2,
    cancels: 1,
  },
  {
    what: 'streams more than is left above it',
    mode: 'streaming',
    agent: lines({ id: 't', total_cost_usd: 0.6 }, undefined),
    leftAbove: 0.5,
    ends: ['budget_exceeded'],
    says: /exhausted the budget above it/,
    chunks: 1,
    cost: 0.6,
    cancels: 1,
  },
  {
    what: 'is silent in the middle of a stream',
    mode: 'streaming',
    agent: lines({ id: 't', cost_usd: 0.1 }, undefined),
    act: afterIdle,
    ends: ['idle_timeout'],
    says: /no data arrived for 30000 ms\nPartial output: /,
    chunks: 1,
    cost: 0.1,
    cancels: 1,
  },
  {
    what: 'resets the connection in the middle of a stream',
    mode: 'streaming',
    agent: tasks((response) => {
      response.write('{"id":"t"}\n{"n":1}\n', () => setImmediate(() => response.destroy()))
    }),
    ends: ['connection_lost'],
    says: /was lost/,
    chunks: 2,
    cancels: 1,
  },
  {
    what: 'is cancelled in the middle of a stream',
    mode: 'streaming',
    agent: lines({ id: 't' }, undefined),
    act: async ({ told, abort }) => {
      await told(2)
      abort()
    },
    ends: ['cancelled'],
    says: /cancelled/,
    chunks: 1,
    cancels: 1,
  },
  {
    what: 'is under way when the tool is closed',
    mode: 'streaming',
    agent: lines({ id: 't' }, undefined),
    act: async ({ told, connector }) => {
      await told(2)
      await connector.close?.()
    },
    ends: ['connection_lost'],
    says: /./,
    chunks: 1,
    cancels: 1,
  },
  {
    what: 'asks, and nobody is there',
    mode: 'sync',
    agent: json({ id: 't', status: 'input-required', message: 'Which?' }),
    ends: ['input_required'],
    says: /Which\?/,
    cancels: 1,
  },
  {
    what: 'is fed its own output until it is done',
    mode: 'conversational',
    agent: tasks((response, turn) =>
      response.end(JSON.stringify({ status: turn < 2 ? 'working' : 'completed', output: turn })),
    ),
    ends: ['completed'],
    says: /2/,
  },
  // A peer over a WebSocket.
  {
    what: 'answers',
    mode: 'sync',
    agent: task((asked) => {
      accept(asked)
      respond(asked, { status: 'COMPLETED', result: 'Hi' })
    }),
    ends: ['completed'],
    says: /^Hi$/,
  },
  {
    what: 'tells how it goes, and answers',
    mode: 'streaming',
    agent: task((asked) => {
      accept(asked)
      asked.connection.send({ type: 'task_progress', requestId: asked.requestId, message: 'Half' })
      respond(asked, { status: 'COMPLETED', result: 'Hi' })
    }),
    ends: ['completed'],
    says: /^Hi$/,
    chunks: 2,
  },
  {
    what: 'fails',
    mode: 'streaming',
    agent: task((asked) => {
      accept(asked)
      respond(asked, { status: 'FAILED', error: 'No voice' })
    }),
    ends: ['agent_failed'],
    says: /The task "agent" of the peer failed: No voice/,
    chunks: 1,
  },
  {
    what: 'knows no such task',
    mode: 'conversational',
    agent: task((asked) => respond(asked, { status: 'REJECTED', error: 'INVALID_ENSEMBLE: No' })),
    ends: ['configuration'],
    says: /INVALID_ENSEMBLE: No/,
    cancels: 0,
  },
  {
    what: 'loses the connection twice',
    mode: 'streaming',
    agent: task((asked) => {
      accept(asked)
      asked.connection.socket.close(1013, 'Slow')
    }),
    ends: ['connection_lost'],
    says: /closed with code 1013 "Slow"/,
    chunks: 1,
    cancels: 1,
  },
  {
    what: 'loses the connection once',
    mode: 'streaming',
    agent: task((asked) => {
      accept(asked)
      if (asked.turn === 0) asked.connection.socket.terminate()
      else respond(asked, { status: 'COMPLETED', result: 'Hi' })
    }),
    ends: ['completed'],
    says: /^Hi$/,
    chunks: 1,
  },
  {
    what: 'is silent',
    mode: 'streaming',
    agent: task(accept),
    act: afterIdle,
    ends: ['idle_timeout'],
    says: /no data arrived/,
    chunks: 1,
    cancels: 1,
  },
  {
    what: 'sends what does not fit',
    mode: 'sync',
    agent: task((asked) => respond(asked, { status: 'MAYBE' })),
    ends: ['invalid_response'],
    says: /invalid "task_response"/,
  },
  {
    what: 'is cancelled while its tool is called',
    mode: 'sync',
    agent: tool(() => undefined),
    act: async ({ asked, abort }) => {
      await asked
      abort()
    },
    ends: ['cancelled'],
    says: /cancelled/,
    cancels: 1,
  },
  {
    what: 'loses the connection while its tool is called, and answers the next try',
    mode: 'sync',
    agent: tool(({ connection, requestId, turn }) => {
      if (turn === 0) connection.socket.terminate()
      else connection.send({ type: 'tool_response', requestId, status: 'COMPLETED', result: 'Hi' })
    }),
    settings: { retries: 1, retryDelayMs: 0 },
    ends: ['connection_lost', 'completed'],
    says: /^Hi$/,
    // What ends the call of a tool is that its connection is gone.
    cancels: 1,
  },
]

describe.each(CASES.map((one): [string, Case] => [`${one.agent.wire}, ${one.mode}`, one]))(
  'an agent (%s)',
  (_place, one) => {
    it(`that ${one.what}: one story, one end (${one.ends.join(', ')})`, async () => {
      await using scene = await playOut(one)
      assertStory(scene, one)
    })
  },
)

/** What came of a case. */
interface Played extends AsyncDisposable {
  readonly events: readonly TimedAgentReport[]
  readonly said: string
  readonly isSuccess: boolean
  readonly cancels: number
}

async function playOut(one: Case): Promise<Played> {
  const staged = await openWireAgent(one.agent)
  const controller = new AbortController()
  const events: TimedAgentReport[] = []
  const watchers = new Set<() => void>()
  const clock = fakeClock()
  const isUnreachable = one.ends[0] === 'unreachable'
  if (isUnreachable) await staged[Symbol.asyncDispose]()
  const made = defineAgentTool({
    name: 'agent',
    description: 'Answers',
    mode: one.mode,
    ...one.settings,
    connector: staged.connector,
  })
  const calling = runTool(
    made,
    { id: crypto.randomUUID(), name: 'agent', arguments: '{"input":"hello"}' },
    {
      signal: controller.signal,
      onAgentReport: (_call, report) => {
        events.push(report)
        for (const watcher of watchers) watcher()
      },
      remaining: () => ({
        timeMs: Infinity,
        costUsd: (one.leftAbove ?? Infinity) - costOf(events),
        tokens: Infinity,
      }),
      ...(one.act === undefined ? {} : { clock }),
      ...one.call,
    },
  )
  await one.act?.({
    ...staged,
    clock,
    abort: (reason) => {
      controller.abort(reason)
    },
    told: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (events.length >= count) resolve()
        }
        watchers.add(look)
        look()
      }),
  })
  const { result, error } = await calling
  const count = events.length
  while (staged.cancels() < (one.cancels ?? 0)) await turn()
  // Whatever was still on its way has come by then, and nothing is told any more.
  await turn()
  expect(events).toHaveLength(count)
  return {
    events,
    said: result.success ? result.output : `${result.errorMessage} ${String(error)}`,
    isSuccess: result.success,
    cancels: staged.cancels(),
    async [Symbol.asyncDispose]() {
      if (!isUnreachable) await staged[Symbol.asyncDispose]()
    },
  }
}

function assertStory({ events, said, isSuccess, cancels }: Played, one: Case): void {
  const tries = one.ends.map((_end, index) =>
    events.filter(({ retry_index: retry }) => retry === index),
  )
  expect(tries.flat()).toEqual(events)
  expect(tries.map(endOf)).toEqual(one.ends)
  for (const story of tries) assertTry(story, one.mode)
  const last = tries.at(-1) ?? []
  expect(last.filter(isProgress)).toHaveLength(one.chunks ?? 0)
  expect(costOf(events)).toBeCloseTo(one.cost ?? 0, 9)
  const times = events.map(({ timestamp_ms: at }) => at)
  expect(times.toSorted((a, b) => a - b)).toEqual(times)
  expect(said).toMatch(one.says)
  expect(isSuccess).toBe(one.ends.at(-1) === 'completed' && !said.includes('cancelled'))
  expect(cancels).toBe(one.cancels ?? 0)
}

/** A try: it begins once, ends once, and its numbers agree. */
function assertTry(story: readonly TimedAgentReport[], mode: AgentMode): void {
  const types = story.map(({ type }) => type.replace('agent_tool_', ''))
  const isEnd = (type: string): boolean => ['completed', 'terminated', 'error'].includes(type)
  expect(types.indexOf('invoked')).toBe(0)
  expect(types.lastIndexOf('invoked')).toBe(0)
  expect(types.findIndex(isEnd)).toBe(types.length - 1)
  const chunks = story.filter(isProgress)
  expect(chunks.map(({ chunk_index: index }) => index)).toEqual(chunks.map((_, index) => index))
  if (mode !== 'streaming') expect(chunks).toEqual([])
  if (mode !== 'conversational') expect(types).not.toContain('turn')
  const end = story.at(-1)
  if (end === undefined || !('chunks_received' in end)) throw new Error('There is no end')
  if (mode === 'streaming') expect(end.chunks_received).toBe(chunks.length)
  let cost = 0
  for (const event of story) {
    cost += event.cost_usd ?? 0
    if (event.type === 'agent_tool_progress') {
      expect(event.accumulated_cost_usd).toBeCloseTo(cost, 9)
    }
  }
  const total = 'total_cost' in end ? end.total_cost : end.accumulated_cost_usd
  expect(total).toBeCloseTo(cost, 9)
}

function endOf(story: readonly TimedAgentReport[]): string | undefined {
  const end = story.at(-1)
  if (end?.type === 'agent_tool_terminated') return end.reason
  if (end?.type === 'agent_tool_error') return end.failure_type
  return end?.type.replace('agent_tool_', '')
}

/** What was used, as the sum over events has it. */
function costOf(events: readonly TimedAgentReport[]): number {
  return events.reduce((sum, { cost_usd: costUsd = 0 }) => sum + costUsd, 0)
}

/** Resolves when what is ready in this process has run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function isProgress(event: TimedAgentReport): event is Report<'agent_tool_progress'> {
  return event.type === 'agent_tool_progress'
}
