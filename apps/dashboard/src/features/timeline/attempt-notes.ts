/**
 * Converts an attempt at a task to timed spans. Pure.
 *
 * DASH-N1 Model, tool and agent calls have the times of the log. Trace files of AgentEnsemble contain only
 *    durations; there a model call starts when the preceding work ends, and the tool calls of a
 *    turn start when it is answered, as in the traces of the control API.
 * DASH-N2 Nothing ends before it starts. A model call starts no earlier than its attempt and the end of
 *    the previous model call, a tool call no earlier than its turn was answered, a step no earlier
 *    than its call. A clock that was set back therefore never inverts a span.
 * DASH-N3 Running work has no end. Interrupted work ends with its attempt.
 * DASH-N4 An unchanged turn after unchanged turns keeps its notes, so that only the last turn of a
 *    running run is computed again.
 */
import type { AgentCallState, TaskState, ToolCallState, TurnState } from '@tutti/protocol/internal'

import type { Selection } from '../../api/selection.ts'
import type { AgentSpan, ModelSpan, SpanStatus, ToolSpan } from './spans.ts'

/** A tool call with its steps and agent calls. */
export interface CallTree {
  readonly span: ToolSpan | AgentSpan
  readonly below: readonly CallTree[]
}

/** The notes of an attempt, in the order in which they began. */
export interface AttemptNotes {
  readonly models: readonly ModelSpan[]
  readonly calls: readonly CallTree[]
  /** Time at which the last known work of the attempt ended, or started. */
  readonly lastMs: number
}

/**
 * Input of the notes in addition to the turns. It is stored with the notes of each turn and
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

/** Progress of reading an attempt. */
interface Reached {
  /** Time at which the last known work ended, or started. */
  readonly clock: number
  /** The same for the last model call. */
  readonly modelMs: number
}

interface TurnNotes {
  readonly models: readonly ModelSpan[]
  readonly calls: readonly CallTree[]
  readonly after: Reached
}

const NO_AGENTS: Reading['agentsOf'] = new Map()
const CALL_STATUS = { RUNNING: 'running', SUCCEEDED: 'done', FAILED: 'failed' } as const
const AGENT_STATUS: Readonly<Record<AgentCallState['status'], SpanStatus>> = {
  RUNNING: 'running',
  COMPLETED: 'done',
  TERMINATED: 'stopped',
  FAILED: 'failed',
  INTERRUPTED: 'stopped',
}

/** Returns the notes of an attempt that started at `startMs`. */
export function buildNotes(
  task: TaskState,
  { startMs, endMs, isPast }: { startMs: number; endMs: number | undefined; isPast: boolean },
): AttemptNotes {
  const reading: Reading = {
    taskName: task.name,
    agentCalls: task.agentCalls,
    isPast,
    isRunning: !isPast && task.status === 'RUNNING',
    cutOffMs: endMs,
    agentsOf:
      task.agentCalls.length === 0
        ? NO_AGENTS
        : Map.groupBy(task.agentCalls, ({ toolCallId }) => toolCallId),
  }
  const models: ModelSpan[] = []
  const calls: CallTree[] = []
  let reached: Reached = { clock: startMs, modelMs: startMs }
  for (const turn of task.turns) {
    const notes = findNotes(turn, reading, reached)
    for (const span of notes.models) models.push(span)
    for (const tree of notes.calls) calls.push(tree)
    reached = notes.after
  }
  return { models, calls, lastMs: reached.clock }
}

/** Parses an instant to milliseconds; undefined if it is missing or invalid. */
export function parseInstantMs(instant: string | undefined): number | undefined {
  const ms = instant === undefined ? Number.NaN : Date.parse(instant)
  return Number.isNaN(ms) ? undefined : ms
}

/** Cached notes and their input. */
interface KnownNotes {
  readonly reading: Reading
  readonly before: Reached
  readonly notes: TurnNotes
}

/** The latest notes of each turn. */
const KNOWN = new WeakMap<TurnState, KnownNotes>()

function findNotes(turn: TurnState, reading: Reading, before: Reached): TurnNotes {
  const known = KNOWN.get(turn)
  if (
    known !== undefined &&
    isSameReading(known.reading, reading) &&
    isSameProgress(known.before, before)
  ) {
    return known.notes
  }
  const notes = buildTurnNotes(turn, reading, before)
  KNOWN.set(turn, { reading, before, notes })
  return notes
}

function isSameReading(one: Reading, other: Reading): boolean {
  return (
    one.taskName === other.taskName &&
    one.agentCalls === other.agentCalls &&
    one.isPast === other.isPast &&
    one.isRunning === other.isRunning &&
    one.cutOffMs === other.cutOffMs
  )
}

function isSameProgress(one: Reached, other: Reached): boolean {
  return one.clock === other.clock && one.modelMs === other.modelMs
}

function buildTurnNotes(turn: TurnState, reading: Reading, before: Reached): TurnNotes {
  let { clock, modelMs } = before
  const target = toTarget(reading, turn)
  const models: ModelSpan[] = []
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
  const calls = turn.toolCalls.map((call) => buildCallTree(call, { reading, turn, leastMs }))
  for (const { span } of calls) clock = Math.max(clock, span.endMs ?? span.startMs)
  return { models, calls, after: { clock, modelMs } }
}

/** Returns the selection that a note leads to; parts of a past attempt cannot be selected. */
function toTarget(
  { taskName, isPast }: Reading,
  { iterationIndex }: TurnState,
  toolCallId?: string,
): Selection {
  if (isPast) return { taskName }
  return { taskName, iterationIndex, ...(toolCallId === undefined ? {} : { toolCallId }) }
}

/** Returns the answering call of a turn; undefined if the turn ended with a failed call. */
function buildAnswer(turn: TurnState, reading: Reading, reached: Reached): ModelSpan | undefined {
  const { failures, status } = turn
  const lastFailure = failures.at(-1)
  // The last call of a failed turn is among its failures, unless it was interrupted.
  if (status === 'FAILED' && lastFailure !== undefined) return undefined
  const waited = reached.clock + (lastFailure?.retryInMs ?? 0)
  const startMs = Math.max(reached.modelMs, parseInstantMs(turn.startedAt) ?? waited)
  const isRunning = status === 'RUNNING' && reading.isRunning
  const endMs =
    parseInstantMs(turn.completedAt) ?? deriveEnd(turn, startMs, [reached.clock, reading.cutOffMs])
  return {
    kind: 'model',
    startMs,
    status: isRunning ? 'running' : status === 'COMPLETED' ? 'done' : 'failed',
    target: toTarget(reading, turn),
    turn,
    ...(isRunning ? {} : { endMs: Math.max(startMs, endMs) }),
  }
}

function deriveEnd(
  { status, latencyMs }: TurnState,
  startMs: number,
  [clock, cutOffMs]: readonly [clock: number, cutOffMs: number | undefined],
): number {
  return status === 'COMPLETED' ? Math.max(clock, startMs + (latencyMs ?? 0)) : (cutOffMs ?? clock)
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
  const span: ToolSpan = {
    kind: 'tool',
    startMs,
    status: status === 'RUNNING' && !isRunning ? 'failed' : CALL_STATUS[status],
    target: toTarget(reading, turn, id),
    call,
    ...(isRunning ? {} : { endMs: Math.max(startMs, parseInstantMs(completedAt) ?? derived) }),
  }
  const steps = call.steps.map((step) => buildCallTree(step, { reading, turn, leastMs: startMs }))
  const agents = (reading.agentsOf.get(id) ?? []).map((agentCall): CallTree => ({
    span: buildAgentSpan(agentCall, span),
    below: [],
  }))
  return { span, below: [...agents, ...steps] }
}

function buildAgentSpan(agentCall: AgentCallState, call: ToolSpan): AgentSpan {
  const isRunning = agentCall.status === 'RUNNING' && call.endMs === undefined
  const startMs = Math.max(call.startMs, parseInstantMs(agentCall.startedAt) ?? call.startMs)
  const endMs = parseInstantMs(agentCall.completedAt) ?? call.endMs ?? startMs
  return {
    kind: 'agent',
    startMs,
    status:
      agentCall.status === 'RUNNING' && !isRunning ? 'stopped' : AGENT_STATUS[agentCall.status],
    target: call.target,
    agentCall,
    ...(isRunning ? {} : { endMs: Math.max(startMs, endMs) }),
  }
}
