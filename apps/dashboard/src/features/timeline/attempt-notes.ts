/**
 * Pure: what one attempt at a task did, and when.
 *
 * N1 Model calls, tool calls and agent calls are where their log says they were. Logs of earlier versions
 *    say only how long they took; there a model call begins when the last thing before it was over, and
 *    the tool calls of a turn begin together when it was answered, as in the traces of the control API.
 * N2 Nothing ends before it begins, a model call begins no earlier than its attempt and the one before it
 *    ended, a tool call no earlier than its turn was answered, a step no earlier than its call: a clock that
 *    was set back turns no span round.
 * N3 What goes on has no end. What was cut off ends with its attempt.
 * N4 A turn that is the same as before, after the same, has the very same notes: of a run that goes on only
 *    the last turn is read anew.
 */
import type { AgentCallState, TaskState, ToolCallState, TurnState } from '@tutti/protocol'

import type { Selection } from '../../api/selection.ts'
import type { AgentSpan, ModelSpan, SpanStatus, ToolSpan } from './spans.ts'

/** A tool call with its steps and the agents that it asked. */
export interface CallTree {
  readonly span: ToolSpan | AgentSpan
  readonly below: readonly CallTree[]
}

/** The notes of an attempt, in the order in which they began. */
export interface AttemptNotes {
  readonly models: readonly ModelSpan[]
  readonly calls: readonly CallTree[]
  /** When the last thing that is known of the attempt was over, or began. */
  readonly lastMs: number
}

/**
 * What of an attempt its notes are made of, beside its turns. It is kept with the notes of each turn and so
 * holds no task: each of these holds all turns before.
 */
interface Reading {
  readonly taskName: string
  readonly agentCalls: readonly AgentCallState[]
  readonly isPast: boolean
  /** Whether what has no end is still at work. */
  readonly goesOn: boolean
  /** When what was cut off ended; undefined while the attempt goes on, or when that is not known. */
  readonly cutOffMs: number | undefined
  /** The tries of each tool call that asks another agent. */
  readonly agentsOf: ReadonlyMap<string, readonly AgentCallState[]>
}

/** How far an attempt was read. */
interface Reached {
  /** When the last thing that is known was over, or began. */
  readonly clock: number
  /** The same of the last model call. */
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

/** The notes of an attempt that began at `startMs`. */
export function notesOf(
  task: TaskState,
  { startMs, endMs, isPast }: { startMs: number; endMs: number | undefined; isPast: boolean },
): AttemptNotes {
  const reading: Reading = {
    taskName: task.name,
    agentCalls: task.agentCalls,
    isPast,
    goesOn: !isPast && task.status === 'RUNNING',
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
    const notes = knownNotes(turn, reading, reached)
    for (const span of notes.models) models.push(span)
    for (const tree of notes.calls) calls.push(tree)
    reached = notes.after
  }
  return { models, calls, lastMs: reached.clock }
}

/** Milliseconds of an instant; undefined when there is none, or it is no time. */
export function instantMs(instant: string | undefined): number | undefined {
  const ms = instant === undefined ? Number.NaN : Date.parse(instant)
  return Number.isNaN(ms) ? undefined : ms
}

/** Notes that were made, and what they were made of beside their turn. */
interface KnownNotes {
  readonly reading: Reading
  readonly before: Reached
  readonly notes: TurnNotes
}

/** The notes of each turn as they were made last. */
const KNOWN = new WeakMap<TurnState, KnownNotes>()

function knownNotes(turn: TurnState, reading: Reading, before: Reached): TurnNotes {
  const known = KNOWN.get(turn)
  if (known !== undefined && isAlike(known.reading, reading) && isThere(known.before, before)) {
    return known.notes
  }
  const notes = notesOfTurn(turn, reading, before)
  KNOWN.set(turn, { reading, before, notes })
  return notes
}

function isAlike(one: Reading, other: Reading): boolean {
  return (
    one.taskName === other.taskName &&
    one.agentCalls === other.agentCalls &&
    one.isPast === other.isPast &&
    one.goesOn === other.goesOn &&
    one.cutOffMs === other.cutOffMs
  )
}

function isThere(one: Reached, other: Reached): boolean {
  return one.clock === other.clock && one.modelMs === other.modelMs
}

function notesOfTurn(turn: TurnState, reading: Reading, before: Reached): TurnNotes {
  let { clock, modelMs } = before
  const target = targetOf(reading, turn)
  const models: ModelSpan[] = []
  for (const failure of turn.failures) {
    const endMs = Math.max(modelMs, instantMs(failure.failedAt) ?? clock)
    const startMs = Math.max(modelMs, endMs - failure.latencyMs)
    models.push({ kind: 'model', startMs, endMs, status: 'failed', target, turn, failure })
    modelMs = endMs
    clock = Math.max(clock, endMs)
  }
  const answer = answerOf(turn, reading, { clock, modelMs })
  if (answer !== undefined) {
    models.push(answer)
    modelMs = answer.endMs ?? answer.startMs
    clock = Math.max(clock, modelMs)
  }
  const leastMs = answer === undefined ? clock : modelMs
  const calls = turn.toolCalls.map((call) => callTree(call, { reading, turn, leastMs }))
  for (const { span } of calls) clock = Math.max(clock, span.endMs ?? span.startMs)
  return { models, calls, after: { clock, modelMs } }
}

/** Where a note leads: a past attempt has no place of its own. */
function targetOf(
  { taskName, isPast }: Reading,
  { iterationIndex }: TurnState,
  toolCallId?: string,
): Selection {
  if (isPast) return { taskName }
  return { taskName, iterationIndex, ...(toolCallId === undefined ? {} : { toolCallId }) }
}

/** The call of the turn that has not failed by itself. */
function answerOf(turn: TurnState, reading: Reading, reached: Reached): ModelSpan | undefined {
  const { failures, status } = turn
  const lastFailure = failures.at(-1)
  // The last call of a turn that failed is one of its failures; one that was cut off is not.
  if (status === 'FAILED' && lastFailure !== undefined) return undefined
  const waited = reached.clock + (lastFailure?.retryInMs ?? 0)
  const startMs = Math.max(reached.modelMs, instantMs(turn.startedAt) ?? waited)
  const goesOn = status === 'RUNNING' && reading.goesOn
  const said =
    instantMs(turn.completedAt) ?? derivedEnd(turn, startMs, [reached.clock, reading.cutOffMs])
  return {
    kind: 'model',
    startMs,
    status: goesOn ? 'running' : status === 'COMPLETED' ? 'done' : 'failed',
    target: targetOf(reading, turn),
    turn,
    ...(goesOn ? {} : { endMs: Math.max(startMs, said) }),
  }
}

function derivedEnd(
  { status, latencyMs }: TurnState,
  startMs: number,
  [clock, cutOffMs]: readonly [clock: number, cutOffMs: number | undefined],
): number {
  return status === 'COMPLETED' ? Math.max(clock, startMs + (latencyMs ?? 0)) : (cutOffMs ?? clock)
}

interface CallReading {
  readonly reading: Reading
  readonly turn: TurnState
  /** It began no earlier. */
  readonly leastMs: number
}

function callTree(call: ToolCallState, { reading, turn, leastMs }: CallReading): CallTree {
  const { id, startedAt, completedAt, durationMs, status } = call
  const goesOn = status === 'RUNNING' && reading.goesOn
  const startMs = Math.max(leastMs, instantMs(startedAt) ?? leastMs)
  const derived = durationMs === undefined ? (reading.cutOffMs ?? startMs) : startMs + durationMs
  const span: ToolSpan = {
    kind: 'tool',
    startMs,
    status: status === 'RUNNING' && !goesOn ? 'failed' : CALL_STATUS[status],
    target: targetOf(reading, turn, id),
    call,
    ...(goesOn ? {} : { endMs: Math.max(startMs, instantMs(completedAt) ?? derived) }),
  }
  const steps = call.steps.map((step) => callTree(step, { reading, turn, leastMs: startMs }))
  const agents = (reading.agentsOf.get(id) ?? []).map((agentCall): CallTree => ({
    span: agentSpan(agentCall, span),
    below: [],
  }))
  return { span, below: [...agents, ...steps] }
}

function agentSpan(agentCall: AgentCallState, call: ToolSpan): AgentSpan {
  const goesOn = agentCall.status === 'RUNNING' && call.endMs === undefined
  const startMs = Math.max(call.startMs, instantMs(agentCall.startedAt) ?? call.startMs)
  const endMs = instantMs(agentCall.completedAt) ?? call.endMs ?? startMs
  return {
    kind: 'agent',
    startMs,
    status: agentCall.status === 'RUNNING' && !goesOn ? 'stopped' : AGENT_STATUS[agentCall.status],
    target: call.target,
    agentCall,
    ...(goesOn ? {} : { endMs: Math.max(startMs, endMs) }),
  }
}
