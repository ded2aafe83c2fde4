/**
 * Everything that happened in a run, as entries with times. The timeline draws them, and the
 * transcript lists those of one attempt. Pure.
 *
 * DASH-N1 Model, tool and agent calls have the times of the log. Trace files of AgentEnsemble contain only
 *    durations; there a model call starts when the preceding work ends, and the tool calls of a
 *    turn start when it is answered, as in the traces of the control API.
 * DASH-N2 Nothing ends before it starts. A model call starts no earlier than its attempt and the end of
 *    the previous model call, a tool call no earlier than its turn was answered, a step no earlier
 *    than its call. A clock that was set back therefore never inverts an entry.
 * DASH-N3 Running work has no end. Interrupted work ends with its attempt.
 * DASH-N4 An unchanged turn after unchanged turns keeps its entries, so that only the last turn of a
 *    running run is computed again.
 */
import type { Selection } from './selection.ts'
import type { RunEventOf } from '@tutti/protocol'
import type {
  AgentCallState,
  DirectiveState,
  ReviewState,
  TaskState,
  ToolCallState,
  TurnFailure,
  TurnState,
} from '@tutti/protocol/internal'

type EntryStatus = 'running' | 'done' | 'failed' | 'stopped'

/** One thing that happened. */
export type RunEntry = {
  /** Milliseconds since 1970. */
  readonly startMs: number
  /** Never before the start; undefined while it is running. */
  readonly endMs?: number
  readonly status: EntryStatus
  /** The selection that it leads to. */
  readonly target?: Selection | undefined
} & (
  | {
      readonly kind: 'attempt'
      /** The task at the end of the attempt. */
      readonly task: TaskState
    }
  /** A model call: the one that counts in its turn, or a failed one before it. */
  | { readonly kind: 'model'; readonly turn: TurnState; readonly failure?: TurnFailure }
  /** A tool call, or a step of one. */
  | { readonly kind: 'tool'; readonly call: ToolCallState }
  /** An attempt of a tool call to call another agent. */
  | { readonly kind: 'agent'; readonly agentCall: AgentCallState }
  | { readonly kind: 'review'; readonly review: ReviewState }
  | { readonly kind: 'directive'; readonly directive: DirectiveState }
  | { readonly kind: 'switch'; readonly change: RunEventOf<'model_switched'> }
  | { readonly kind: 'cancel'; readonly mode: string; readonly actor?: string | undefined }
  | { readonly kind: 'resume' }
  /** Time in which at least one task of a group ran. */
  | {
      readonly kind: 'group'
      /** Name of the task that has added the group. */
      readonly parent: string
      /** Number of tasks that ran in it. */
      readonly count: number
      readonly failed: number
    }
)

export type EntryOf<Kind extends RunEntry['kind']> = Extract<RunEntry, { kind: Kind }>

/** A tool call with its steps and agent calls. */
export interface CallTree {
  readonly entry: EntryOf<'tool' | 'agent'>
  readonly below: readonly CallTree[]
}

/** The entries of a turn, in the order in which they began. */
export interface TurnEntries {
  readonly turn: TurnState
  readonly models: readonly EntryOf<'model'>[]
  readonly calls: readonly CallTree[]
  readonly after: Reached
}

/** An attempt with its turns in order. */
interface AttemptEntries {
  /** The attempt itself; undefined if it has not started. */
  readonly attempt: EntryOf<'attempt'> | undefined
  readonly turns: readonly TurnEntries[]
  /** Time at which the last known work of the attempt ended, or started. */
  readonly lastMs: number
}

/** Progress of reading an attempt. */
interface Reached {
  /** Time at which the last known work ended, or started. */
  readonly clock: number
  /** The same for the last model call. */
  readonly modelMs: number
}

/**
 * Input of the entries in addition to the turns. It is stored with the entries of each turn and
 * therefore contains no task, which would retain all earlier turns.
 */
interface Reading {
  readonly taskName: string
  readonly agentCalls: readonly AgentCallState[]
  readonly isPast: boolean
  /** Whether work without an end is still running. */
  readonly isRunning: boolean
  /** Time at which interrupted work ended; undefined while the attempt runs, or if unknown. */
  readonly cutOffMs: number | undefined
  /** Agent calls by tool call. */
  readonly agentsOf: ReadonlyMap<string, readonly AgentCallState[]>
}

const TASK_STATUS: Readonly<Record<TaskState['status'], EntryStatus>> = {
  PENDING: 'stopped',
  RUNNING: 'running',
  COMPLETED: 'done',
  FAILED: 'failed',
  SKIPPED: 'stopped',
  CANCELLED: 'stopped',
}
const CALL_STATUS = { RUNNING: 'running', SUCCEEDED: 'done', FAILED: 'failed' } as const
const AGENT_STATUS: Readonly<Record<AgentCallState['status'], EntryStatus>> = {
  RUNNING: 'running',
  COMPLETED: 'done',
  TERMINATED: 'stopped',
  FAILED: 'failed',
  INTERRUPTED: 'stopped',
}

/**
 * Returns the entries of an attempt, which starts no earlier than `leastMs`; `isPast` is whether
 * another attempt followed it.
 */
export function buildAttempt(
  task: TaskState,
  { isPast = false, leastMs = Number.NEGATIVE_INFINITY } = {},
): AttemptEntries {
  const isRunning = !isPast && task.status === 'RUNNING'
  const recordedMs = parseInstantMs(task.startedAt) ?? parseInstantMs(task.turns[0]?.startedAt)
  const startMs = Math.max(leastMs, recordedMs ?? 0)
  const cutOffMs = isRunning ? undefined : findEnd(task, startMs)
  const { name: taskName, agentCalls } = task
  const agentsOf = Map.groupBy(agentCalls, ({ toolCallId }) => toolCallId)
  const reading = { taskName, agentCalls, isPast, isRunning, cutOffMs, agentsOf }
  const turns: TurnEntries[] = []
  let reached: Reached = { clock: startMs, modelMs: startMs }
  for (const turn of task.turns) {
    const entries = readTurn(turn, reading, reached)
    turns.push(entries)
    reached = entries.after
  }
  const lastMs = reached.clock
  if (recordedMs === undefined) return { attempt: undefined, turns, lastMs }
  const status = isPast && task.status === 'RUNNING' ? 'failed' : TASK_STATUS[task.status]
  const target = { taskName }
  const end = isRunning ? {} : { endMs: Math.max(cutOffMs ?? startMs, lastMs) }
  return { attempt: { kind: 'attempt', task, startMs, status, target, ...end }, turns, lastMs }
}

/** Parses an instant to milliseconds; undefined if it is missing or invalid. */
export function parseInstantMs(instant: string | undefined): number | undefined {
  const ms = instant === undefined ? Number.NaN : Date.parse(instant)
  return Number.isNaN(ms) ? undefined : ms
}

function findEnd({ completedAt, durationMs }: TaskState, startMs: number): number | undefined {
  const derived = durationMs === undefined ? undefined : startMs + durationMs
  const endMs = parseInstantMs(completedAt) ?? derived
  return endMs === undefined ? undefined : Math.max(startMs, endMs)
}

/** The latest entries of each turn, and their input. */
const KNOWN = new WeakMap<
  TurnState,
  { readonly input: readonly unknown[]; readonly entries: TurnEntries }
>()

function readTurn(turn: TurnState, reading: Reading, before: Reached): TurnEntries {
  const { taskName, agentCalls, isPast, isRunning, cutOffMs } = reading
  const input = [taskName, agentCalls, isPast, isRunning, cutOffMs, before.clock, before.modelMs]
  const known = KNOWN.get(turn)
  if (known?.input.every((value, at) => value === input[at]) === true) return known.entries
  const entries = buildTurn(turn, reading, before)
  KNOWN.set(turn, { input, entries })
  return entries
}

function buildTurn(turn: TurnState, reading: Reading, before: Reached): TurnEntries {
  let { clock, modelMs } = before
  const target = toTarget(reading, turn)
  const models: EntryOf<'model'>[] = []
  for (const failure of turn.failures) {
    const endMs = Math.max(modelMs, parseInstantMs(failure.failedAt) ?? clock)
    const startMs = Math.max(modelMs, endMs - failure.latencyMs)
    models.push({ kind: 'model', startMs, endMs, status: 'failed', target, turn, failure })
    modelMs = endMs
    clock = Math.max(clock, endMs)
  }
  const answer = buildAnswer(turn, reading, { clock, modelMs })
  if (answer !== undefined) {
    models.push(answer)
    modelMs = answer.endMs ?? answer.startMs
    clock = Math.max(clock, modelMs)
  }
  const leastMs = answer === undefined ? clock : modelMs
  const calls = nestCalls(turn.toolCalls).map((call) =>
    buildCallTree(call, { reading, turn, leastMs }),
  )
  for (const { entry } of calls) clock = Math.max(clock, entry.endMs ?? entry.startMs)
  return { turn, models, calls, after: { clock, modelMs } }
}

/** Returns the selection that an entry leads to; parts of a past attempt cannot be selected. */
function toTarget(
  { taskName, isPast }: Reading,
  { iterationIndex }: TurnState,
  toolCallId?: string,
): Selection {
  if (isPast) return { taskName }
  return { taskName, iterationIndex, ...(toolCallId === undefined ? {} : { toolCallId }) }
}

/** Returns the answering call of a turn; undefined if the turn ended with a failed call. */
function buildAnswer(
  turn: TurnState,
  reading: Reading,
  { clock, modelMs }: Reached,
): EntryOf<'model'> | undefined {
  const { failures, status, latencyMs = 0 } = turn
  const lastFailure = failures.at(-1)
  // The last call of a failed turn is among its failures, unless it was interrupted.
  if (status === 'FAILED' && lastFailure !== undefined) return undefined
  const waited = clock + (lastFailure?.retryInMs ?? 0)
  const startMs = Math.max(modelMs, parseInstantMs(turn.startedAt) ?? waited)
  const isRunning = status === 'RUNNING' && reading.isRunning
  const isDone = status === 'COMPLETED'
  const derived = isDone ? Math.max(clock, startMs + latencyMs) : (reading.cutOffMs ?? clock)
  const endMs = parseInstantMs(turn.completedAt) ?? derived
  return {
    kind: 'model',
    startMs,
    status: isRunning ? 'running' : isDone ? 'done' : 'failed',
    target: toTarget(reading, turn),
    turn,
    ...(isRunning ? {} : { endMs: Math.max(startMs, endMs) }),
  }
}

interface CallReading {
  readonly reading: Reading
  readonly turn: TurnState
  /** Earliest start. */
  readonly leastMs: number
}

function buildCallTree(call: ToolCallState, { reading, turn, leastMs }: CallReading): CallTree {
  const { id, startedAt, completedAt, durationMs, status } = call
  const isRunning = status === 'RUNNING' && reading.isRunning
  const startMs = Math.max(leastMs, parseInstantMs(startedAt) ?? leastMs)
  const derived = durationMs === undefined ? (reading.cutOffMs ?? startMs) : startMs + durationMs
  const entry: EntryOf<'tool'> = {
    kind: 'tool',
    startMs,
    status: status === 'RUNNING' && !isRunning ? 'failed' : CALL_STATUS[status],
    target: toTarget(reading, turn, id),
    call,
    ...(isRunning ? {} : { endMs: Math.max(startMs, parseInstantMs(completedAt) ?? derived) }),
  }
  const steps = call.steps.map((step) => buildCallTree(step, { reading, turn, leastMs: startMs }))
  const agents = reading.agentsOf.get(id) ?? []
  return { entry, below: [...agents.map((agent) => buildAgentCall(agent, entry)), ...steps] }
}

function buildAgentCall(agentCall: AgentCallState, call: EntryOf<'tool'>): CallTree {
  const isRunning = agentCall.status === 'RUNNING' && call.endMs === undefined
  const startMs = Math.max(call.startMs, parseInstantMs(agentCall.startedAt) ?? call.startMs)
  const endMs = parseInstantMs(agentCall.completedAt) ?? call.endMs ?? startMs
  const isCutOff = agentCall.status === 'RUNNING' && !isRunning
  const entry: EntryOf<'agent'> = {
    kind: 'agent',
    startMs,
    status: isCutOff ? 'stopped' : AGENT_STATUS[agentCall.status],
    target: call.target,
    agentCall,
    ...(isRunning ? {} : { endMs: Math.max(startMs, endMs) }),
  }
  return { entry, below: [] }
}

/**
 * Returns the tool calls of a turn as a tree; steps that ended before their call are nested in it.
 */
export function nestCalls(calls: readonly ToolCallState[]): readonly ToolCallState[] {
  const isWaiting = ({ parentToolCallId: parent }: ToolCallState): boolean =>
    parent !== undefined && calls.some(({ id }) => id === parent)
  if (!calls.some(isWaiting)) return calls
  const addSteps = (call: ToolCallState): ToolCallState => {
    const steps = calls.filter(({ parentToolCallId }) => parentToolCallId === call.id)
    return steps.length === 0 ? call : { ...call, steps: [...call.steps, ...steps.map(addSteps)] }
  }
  return calls.filter((call) => !isWaiting(call)).map(addSteps)
}

/** Returns the entry of a review. A timeout has no time in the state, so the deadline is used. */
export function buildReview(
  review: ReviewState,
  { turns }: TaskState,
): EntryOf<'review'> | undefined {
  const startMs = parseInstantMs(review.requestedAt)
  if (startMs === undefined) return undefined
  const { status, decidedAt, withdrawnAt, timeoutMs, taskName, toolCallId } = review
  const asking = turns.findLast(({ toolCalls }) => toolCalls.some(({ id }) => id === toolCallId))
  const isKnown = asking !== undefined && toolCallId !== undefined
  const call = isKnown ? { toolCallId, iterationIndex: asking.iterationIndex } : {}
  const closedMs = parseInstantMs(decidedAt) ?? parseInstantMs(withdrawnAt) ?? startMs + timeoutMs
  return {
    kind: 'review',
    review,
    startMs,
    status: status === 'OPEN' ? 'running' : status === 'WITHDRAWN' ? 'stopped' : 'done',
    target: { taskName, ...call },
    ...(status === 'OPEN' ? {} : { endMs: Math.max(startMs, closedMs) }),
  }
}
