/** Logs of runs that end in every way, and of runs that wait, made by the engine. */
import { setImmediate as nextTurn } from 'node:timers/promises'

import { defineTool, TuttiError, Type } from '../../../packages/core/src/index.ts'
import type { ChatModel } from '../../../packages/ensemble/src/adapter.ts'
import {
  agent,
  ensemble,
  task,
  type Ensemble,
  type RunOptions,
  type RunResult,
} from '../../../packages/ensemble/src/index.ts'
import type { ModelPrice, RunStep } from '../../../packages/ensemble/src/internal.ts'
import {
  scriptedModel,
  scriptedReviewer,
  type ScriptedReply,
} from '../../../packages/testing/src/index.ts'
import type { ScriptEntry } from '../../../packages/testing/src/internal.ts'

import type { LoggedRunEvent, RunEvent, RunEventOf } from '../../../packages/protocol/src/index.ts'

/** A log, and what each reader must find in it. */
export interface RunLog extends Expected {
  readonly runId: string
  readonly events: readonly LoggedRunEvent[]
  /** Steps of the run, each with the index of its event. */
  readonly steps: readonly LoggedStep[]
  /** Result that the engine returned to its caller; absent for a run that has not ended. */
  readonly result?: RunResult
}

/** A step, and the index of its event in the log. */
interface LoggedStep {
  readonly step: RunStep
  readonly at: number
}

/** State of a run after the last event of a log. */
interface Expected {
  readonly status: 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'WAITING_REVIEW'
  /** Output of the run; absent if it has none. */
  readonly output?: string
  /** Text that the output task has written, in a run without an output; absent if there is none. */
  readonly text?: string
  /** Tokens of a run whose models did not report all of them. @default those that its events state */
  readonly tokens?: UnreportedTokens
  /** Tokens that models used to reason. @default 0 */
  readonly reasoningTokens?: number
  /** Sum of the known costs in US dollars, in a run whose cost is unknown. @default the cost that its events state */
  readonly knownCost?: number
}

/** Tokens of a run whose models did not report all of them. */
interface UnreportedTokens {
  /** Sum of the reported numbers. */
  readonly known: number
  /** Sum with the engine's estimates, by which budgets count. */
  readonly estimated: number
}

/** Tokens cost whole dollars here, so that sums are exact. */
const PRICE: ModelPrice = { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 }

const look = defineTool({
  name: 'look',
  description: 'Looks',
  input: Type.Object({}),
  execute: () => 'seen',
})

const LOOK = { text: 'Let me look. ', toolCalls: [{ name: 'look', arguments: {} }] }
const WAIT = { text: 'Wait. ', toolCalls: [{ name: 'wait', arguments: {} }] }

const WAIT_TOOL = { name: 'wait', description: 'Waits', input: Type.Object({}) }

/** A tool that never returns by itself. */
const wait = defineTool({ ...WAIT_TOOL, execute: (_, { signal }) => untilAborted(signal) })

/** The same tool in another process, in which it returns. */
const waited = defineTool({ ...WAIT_TOOL, execute: () => 'waited' })

/** A tool that calls an agent, which reports 70 tokens and 3 dollars in two parts. */
const ask = defineTool({
  name: 'ask',
  description: 'Asks an agent',
  input: Type.Object({}),
  execute(_, { reportAgent }) {
    const call = { call_id: 'call', retry_index: 0 }
    const begun = { agent_uri: 'http://agent', mode: 'streaming', protocol: 'a2a' } as const
    reportAgent({ type: 'agent_tool_invoked', ...call, ...begun, input_hash: '' })
    const chunk = { chunk_index: 0, chunk: 'so', accumulated_cost_usd: 1 }
    const first = { input_tokens: 40, output_tokens: 10, cost_usd: 1 }
    reportAgent({ type: 'agent_tool_progress', ...call, ...chunk, ...first })
    const totals = { chunks_received: 1, latency_ms: 1, total_turns: 1, total_cost: 3 }
    const rest = { input_tokens: 0, output_tokens: 20, cost_usd: 2 }
    reportAgent({ type: 'agent_tool_completed', ...call, ...totals, ...rest, output: 'so' })
    return 'so'
  },
})

const ASK: ScriptEntry = { text: 'Let me ask. ', toolCalls: [{ name: 'ask', arguments: {} }] }

/** The client tool of a run, and a call of it. */
const CLIENT_TOOLS = [{ name: 'where', inputSchema: Type.Object({}) }]
const WHERE: ScriptEntry = { text: 'Let me see. ', toolCalls: [{ name: 'where', arguments: {} }] }

const ANSWERED = { action: 'EDIT', input: 'At home' } as const

/** An answer whose provider reports no tokens. */
function unreported(entry: ScriptedReply): ScriptEntry {
  return { ...entry, usage: { inputTokens: -1, outputTokens: -1 } }
}

/** A failure of a model, after which the task is attempted again. */
function outOfTune(): TuttiError {
  return new TuttiError('MODEL_FAILED', 'Out of tune', { retryable: true })
}

type TaskSettings = Partial<Parameters<typeof task>[0]>

/** Rejects when the signal aborts. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}

/** A model that begins an answer and never ends it. */
const hangingModel: ChatModel = {
  provider: 'test',
  name: 'hanging',
  async *stream(_, { signal }) {
    yield { type: 'text', text: 'Wrong' }
    await untilAborted(signal)
  },
}

/** A model that begins an answer and fails. */
const breakingModel: ChatModel = {
  provider: 'test',
  name: 'breaking',
  async *stream() {
    yield { type: 'text', text: 'Wrong' }
    throw new TuttiError('MODEL_FAILED', 'Out of tune')
  },
}

const MODELS = { hang: hangingModel, break: breakingModel }

/** Returns an ensemble whose tasks answer with these scripts; `hang` begins an answer and never ends it, `break` fails. */
function team(
  scripts: Readonly<Record<string, readonly ScriptEntry[] | keyof typeof MODELS>>,
  settings: TaskSettings = {},
  price: ModelPrice | 'unknown' = PRICE,
): Ensemble {
  const tasks = Object.entries(scripts).map(([name, script]) => {
    const description = `Do ${name}`
    // A model with a provider and without a price has an unknown price.
    const cost = price === 'unknown' ? { provider: 'unpriced' } : { price }
    const model = typeof script === 'string' ? MODELS[script] : scriptedModel([...script], cost)
    return task({ name, description, model, tools: [look, ask, wait], retries: 0, ...settings })
  })
  return ensemble({ name: 'team', tasks, workflow: 'SEQUENTIAL', modelRetries: 0 })
}

/** Returns an ensemble that hangs in its first task, `draft`. */
function hanging(...names: readonly string[]): Ensemble {
  return team({ draft: 'hang', ...Object.fromEntries(names.map((name) => [name, ['unused']])) })
}

const HAND_OFF: ScriptEntry = {
  text: 'One moment. ',
  toolCalls: [{ name: 'transfer_to_Next', arguments: {} }],
}

/** Returns an ensemble whose first agent hands its task off to a second one, which has this script or never ends. */
function handingOff(
  next: readonly ScriptEntry[] | keyof typeof MODELS,
  settings: TaskSettings = {},
): Ensemble {
  const script = [HAND_OFF, HAND_OFF]
  const model = typeof next === 'string' ? MODELS[next] : scriptedModel([...next], { price: PRICE })
  const second = agent({ role: 'Next', model, tools: [look], handoffs: ['First'] })
  const first = agent({
    role: 'First',
    model: scriptedModel(script, { price: PRICE }),
    handoffs: [second],
  })
  const answer = task({ name: 'answer', description: 'Do answer', agent: first, ...settings })
  return ensemble({ name: 'team', tasks: [answer], modelRetries: 0 })
}

interface Story extends Expected {
  /** Ensembles of the processes that execute the run one after the other. Each but the last is lost while it hangs. */
  readonly processes: readonly [Ensemble, ...Ensemble[]]
  readonly options?: RunOptions
  /** Options of the last process only. */
  readonly lastOptions?: RunOptions
  /** Whether the second process executes a fork of the first process's run. */
  readonly isFork?: boolean
}

const completed = (output: string, ...processes: readonly [Ensemble, ...Ensemble[]]): Story => ({
  processes,
  status: 'COMPLETED',
  output,
})

const failed = (...processes: readonly [Ensemble, ...Ensemble[]]): Story => ({
  processes,
  status: 'FAILED',
})

const CUT: ScriptEntry = { text: 'ANS', finishReason: 'length' }

const STORIES: Readonly<Record<string, () => Story>> = {
  'one task': () => completed('ANSWER', team({ answer: ['ANSWER'] })),
  'a task before the output task': () =>
    completed('ANSWER', team({ draft: ['DRAFT'], answer: ['ANSWER'] })),
  'text before a tool': () => completed('ANSWER', team({ answer: [LOOK, 'ANSWER'] })),
  'reasoning before the answer': () => ({
    ...completed('ANSWER', team({ answer: [{ reasoning: 'Well, then.', text: 'ANSWER' }] })),
    // The scripted model estimates a token per four characters.
    reasoningTokens: 3,
  }),
  'an agent that a tool calls': () => completed('ANSWER', team({ answer: [ASK, 'ANSWER'] })),
  'a client tool': () => ({
    ...completed('ANSWER', team({ answer: [WHERE, 'ANSWER'] })),
    options: { clientTools: CLIENT_TOOLS, reviewer: scriptedReviewer([ANSWERED]) },
  }),
  'a client tool that is not answered yet': () => ({
    processes: [team({ answer: [WHERE] })],
    options: { clientTools: CLIENT_TOOLS, reviewer: scriptedReviewer(['never']) },
    status: 'WAITING_REVIEW',
    text: 'Let me see. ',
  }),
  'an agent and a client tool that is not answered yet': () => ({
    processes: [team({ draft: ['DRAFT'], answer: [ASK, WHERE] })],
    options: { clientTools: CLIENT_TOOLS, reviewer: scriptedReviewer(['never']) },
    status: 'WAITING_REVIEW',
    text: 'Let me see. ',
  }),
  'a reviewer who rejects the first answer': () => ({
    ...completed('ANSWER', team({ answer: ['No', 'ANSWER'] }, { review: true })),
    options: { reviewer: scriptedReviewer(['REJECT', 'CONTINUE']) },
  }),
  'a reviewer who rejects all answers': () => ({
    ...failed(team({ answer: ['No', 'Nor this'] }, { review: { maxRevisions: 1 } })),
    text: 'Nor this',
    options: { reviewer: scriptedReviewer(['REJECT', 'REJECT']) },
  }),
  'a failed attempt before the answer': () =>
    completed('ANSWER', team({ answer: [LOOK, outOfTune(), 'ANSWER'] }, { retries: 1 })),
  'a model that does not report its tokens': () => ({
    ...completed('ANSWER', team({ draft: ['DRAFT'], answer: [unreported({ text: 'ANSWER' })] })),
    tokens: { known: 48, estimated: 96 },
    knownCost: 50,
  }),
  'a model without a price': () => ({
    ...completed('ANSWER', team({ answer: [ASK, 'ANSWER'] }, {}, 'unknown')),
    knownCost: 3,
  }),
  'a budget that is used up': () => ({
    ...failed(team({ answer: [ASK, LOOK, 'unused'] })),
    options: { budget: { maxTokens: 150 } },
    text: 'Let me look. ',
  }),
  'a budget that is used up by a model that does not report its tokens': () => ({
    ...failed(team({ draft: ['DRAFT'], answer: [ASK, unreported(LOOK), 'unused'] })),
    options: { budget: { maxTokens: 200 } },
    text: 'Let me look. ',
    tokens: { known: 169, estimated: 223 },
    knownCost: 109,
  }),
  'a budget of dollars that is used up': () => ({
    ...failed(team({ draft: [ASK, LOOK, 'DRAFT'], answer: ['unused'] })),
    options: { budget: { maxCostUsd: 150 } },
  }),
  'code that adds a task before the output task': () =>
    completed(
      'ANSWER',
      hanging('answer'),
      team({ draft: ['DRAFT'], 'check facts': ['NOTES'], answer: ['ANSWER'] }),
    ),
  'code that adds another output task': () =>
    completed(
      'TRANSLATED',
      hanging('answer'),
      team({ draft: ['DRAFT'], answer: ['ANSWER'], translate: ['TRANSLATED'] }),
    ),
  'code that removes the output task': () =>
    completed('NOTES', hanging('notes', 'answer'), team({ draft: ['DRAFT'], notes: ['NOTES'] })),
  'code that only moves the output task': () =>
    completed(
      'ANSWER',
      hanging('answer', 'notes'),
      team({ draft: ['DRAFT'], notes: ['NOTES'], answer: ['ANSWER'] }),
    ),
  'a process that is lost while the model answers': () =>
    completed(
      'ANSWER',
      team({ draft: ['DRAFT'], answer: 'hang' }),
      team({ draft: ['unused'], answer: ['ANSWER'] }),
    ),
  'a process that is lost while the model answers, and a cancel in the next one': () => ({
    processes: [team({ answer: 'hang' }), team({ answer: ['unused'] })],
    lastOptions: { signal: AbortSignal.abort() },
    status: 'CANCELLED',
  }),
  'the log of another run, which it was forked from': () => ({
    ...completed(
      'ANSWER',
      team({ draft: [ASK, 'DRAFT'], answer: 'hang' }),
      team({ draft: ['unused'], answer: ['ANSWER'] }),
    ),
    isFork: true,
  }),
  'the first half of a task of another run, which it was forked from': () => ({
    ...completed(
      'ANSWER',
      team({ answer: [ASK, WAIT] }),
      team({ answer: [LOOK, 'ANSWER'] }, { tools: [look, ask, waited] }),
    ),
    isFork: true,
  }),
  'a reviewer who edits the output': () => ({
    ...completed('EDITED', team({ answer: ['ANSWER'] }, { review: true })),
    options: { reviewer: scriptedReviewer([{ action: 'EDIT', text: 'EDITED' }]) },
  }),
  'a reviewer who ends the run early': () => ({
    ...completed('DRAFT', team({ draft: ['DRAFT'], answer: ['ANSWER'] }, { beforeReview: true })),
    options: { reviewer: scriptedReviewer(['CONTINUE', 'EXIT_EARLY']) },
  }),
  'an answer that is cut and accepted': () =>
    completed('ANS', team({ answer: [CUT] }, { onUnfinished: { length: 'accept' } })),
  'an answer that is cut and continued': () =>
    completed('ANSWER', team({ answer: [CUT, 'WER'] }, { onUnfinished: { length: 'continue' } })),
  'an answer that is cut and refused': () => ({
    ...failed(team({ answer: [CUT] }, { onUnfinished: { length: 'fail' } })),
    text: 'ANS',
  }),
  'a failed model call in the middle of an answer that is continued': () => ({
    ...failed(
      team({ answer: [CUT, new Error('Out of tune')] }, { onUnfinished: { length: 'continue' } }),
    ),
    text: 'ANS',
  }),
  'a cancel in the middle of an answer that is continued': () => ({
    processes: [
      ensemble({
        name: 'team',
        tasks: [
          task({
            name: 'answer',
            description: 'Do answer',
            model: cutThenHanging(),
            onUnfinished: { length: 'continue' },
          }),
        ],
      }),
    ],
    options: { signal: AbortSignal.timeout(50) },
    status: 'CANCELLED',
    text: 'ANSWrong',
  }),
  'a manager who delegates': () =>
    completed(
      'ANSWER',
      ensemble({
        name: 'team',
        workflow: 'HIERARCHICAL',
        model: scriptedModel(
          ({ messages, tools }) => {
            if (tools.every(({ name }) => name !== 'delegate_task')) return 'DRAFT'
            if (messages.some(({ role }) => role === 'tool')) return 'ANSWER'
            const work = { agentRole: 'Writer', taskDescription: 'Do draft' }
            return { toolCalls: [{ name: 'delegate_task', arguments: work }] }
          },
          { price: PRICE },
        ),
        tasks: [
          task({
            name: 'draft',
            description: 'Do draft',
            agent: agent({ role: 'Writer', goal: 'Write' }),
          }),
        ],
      }),
    ),
  'a handoff': () => completed('ANSWER', handingOff([LOOK, 'ANSWER'])),
  'a handoff back and forth': () =>
    completed(
      'ANSWER',
      handingOff([{ toolCalls: [{ name: 'transfer_to_First', arguments: {} }] }, 'ANSWER']),
    ),
  'a handoff in an attempt that fails, and another one in the next attempt': () =>
    completed('ANSWER', handingOff([outOfTune(), 'ANSWER'], { retries: 1 })),
  'a handoff to an agent that fails in the middle of its text': () => failed(handingOff('break')),
  'a process that is lost while the agent after a handoff answers': () =>
    completed('ANSWER', handingOff('hang'), handingOff(['ANSWER'])),
  'a cancel while the agent after a handoff answers': () => ({
    processes: [handingOff('hang')],
    options: { signal: AbortSignal.timeout(50) },
    status: 'CANCELLED',
    text: 'Wrong',
  }),
  'a failed model call': () =>
    failed(team({ draft: ['DRAFT'], answer: [new Error('Out of tune')] })),
  'a model call that fails in the middle of its text': () => failed(team({ answer: 'break' })),
  'a refusal': () => failed(team({ answer: [{ finishReason: 'refusal', refusal: 'I cannot' }] })),
  'a refusal in a task before the output task': () =>
    failed(team({ draft: [{ finishReason: 'refusal', refusal: 'I cannot' }], answer: ['unused'] })),
  'a cancel': () => ({
    processes: [team({ draft: ['DRAFT'], answer: 'hang' })],
    options: { signal: AbortSignal.timeout(50) },
    status: 'CANCELLED',
    text: 'Wrong',
  }),
  'a cancel while an agent has answered': () => ({
    processes: [team({ draft: [ASK, 'DRAFT'], answer: 'hang' })],
    options: { signal: AbortSignal.timeout(50) },
    status: 'CANCELLED',
    text: 'Wrong',
  }),
}

/** A model whose answer is cut at the first call, and never ends at the second. */
function cutThenHanging(): ChatModel {
  const cut = scriptedModel([CUT], { price: PRICE })
  return {
    ...cut,
    stream: (request, options) =>
      (cut.requests.length === 0 ? cut : hangingModel).stream(request, options),
  }
}

/** Names of the logs: what happens in them. */
export const STORY_NAMES: readonly string[] = Object.keys(STORIES)

const logs = new Map<string, Promise<RunLog>>()

/** Executes a run in which this happens, once. */
export function readLog(name: string): Promise<RunLog> {
  const known = logs.get(name) ?? makeLog(name)
  logs.set(name, known)
  return known
}

async function makeLog(name: string): Promise<RunLog> {
  const story = STORIES[name]
  if (story === undefined) throw new RangeError(`No log is named "${name}"`)
  const { processes, options, lastOptions, isFork, ...expected } = story()
  const runId = `run-${STORY_NAMES.indexOf(name) + 1}`
  const recorder = new Recorder(runId)
  for (const [index, team] of processes.entries()) {
    if (index > 0 && isFork === true) recorder.fork()
    const isLast = index === processes.length - 1
    const isLost = !isLast || expected.status === 'WAITING_REVIEW'
    await recorder.execute(team, { ...options, ...(isLast ? lastOptions : {}) }, isLost)
  }
  return { ...expected, ...recorder.log }
}

/** Executes a run in several processes, and records its events and steps. */
class Recorder {
  readonly #runId: string
  readonly #events: RunEvent[]
  readonly #steps: LoggedStep[] = []
  #epoch = 0
  #result: RunResult | undefined

  constructor(runId: string) {
    this.#runId = runId
    const queued: RunEventOf<'run_queued'> = {
      type: 'run_queued',
      queuedAt: '2026-01-01T00:00:00.000Z',
      ensemble: 'team',
      workflow: 'SEQUENTIAL',
      totalTasks: 1,
      inputs: {},
      tags: {},
    }
    this.#events = [queued]
  }

  get log(): Pick<RunLog, 'runId' | 'events' | 'steps' | 'result'> {
    const runId = this.#runId
    const events = this.#events.map((event, seq) => ({
      ...event,
      runId,
      seq,
      id: `${runId}:${seq}`,
    }))
    const result = this.#result === undefined ? {} : { result: this.#result }
    return { runId, events, steps: this.#steps, ...result }
  }

  /** Continues with a fork at the last event. */
  fork(): void {
    const forkedAt = '2026-01-01T00:00:01.000Z'
    const at = this.#events.length - 1
    this.#events.push({ type: 'run_forked', forkedAt, parentRunId: `${this.#runId}-parent`, at })
    const step: RunStep = { kind: 'run_forked', runMs: 0, startedAt: Date.parse(forkedAt) }
    this.#steps.push({ step, at: at + 1 })
    this.#epoch = 0
  }

  /** Executes the run to its end, or in a process that is lost while it hangs. */
  async execute(team: Ensemble, options: RunOptions, isLost: boolean): Promise<void> {
    const controller = new AbortController()
    let isAlive = true
    this.#epoch += 1
    const before = this.#steps.map(({ step }) => step)
    const handle = team.start(
      {},
      {
        runId: this.#runId,
        signal: controller.signal,
        journal: {
          emit: (event, step) => {
            if (!isAlive) return
            if (step !== undefined) this.#steps.push({ step, at: this.#events.length })
            this.#events.push(event)
          },
          commit: async (step, event) => {
            if (!isAlive) await new Promise(() => undefined)
            this.#steps.push({ step, at: this.#events.length })
            if (event !== undefined) this.#events.push(event)
          },
        },
        ...options,
        ...(before.length === 0
          ? {}
          : { resume: { steps: structuredClone(before), epoch: this.#epoch } }),
      },
    )
    if (!isLost) {
      this.#result = await handle.result
      return
    }
    handle.result.catch(() => undefined)
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    isAlive = false
    controller.abort()
  }
}
