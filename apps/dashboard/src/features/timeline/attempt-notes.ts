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

/** What is read along the way. */
interface Reading {
  readonly task: TaskState
  readonly startMs: number
  /** Tells where a note leads: a past attempt has no place of its own. */
  readonly targetOf: (turn: TurnState, toolCallId?: string) => Selection
  /** Whether what has no end is still at work. */
  readonly goesOn: boolean
  /** When what was cut off ended; undefined while the attempt goes on, or when that is not known. */
  readonly cutOffMs: number | undefined
  readonly models: ModelSpan[]
  readonly calls: CallTree[]
  clock: number
}

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
    task,
    startMs,
    targetOf: ({ iterationIndex }, toolCallId) => ({
      taskName: task.name,
      ...(isPast ? {} : { iterationIndex }),
      ...(isPast || toolCallId === undefined ? {} : { toolCallId }),
    }),
    goesOn: !isPast && task.status === 'RUNNING',
    cutOffMs: endMs,
    models: [],
    calls: [],
    clock: startMs,
  }
  for (const turn of task.turns) readTurn(reading, turn)
  return { models: reading.models, calls: reading.calls, lastMs: reading.clock }
}

/** Milliseconds of an instant; undefined when there is none, or it is no time. */
export function msOf(instant: string | undefined): number | undefined {
  const ms = instant === undefined ? Number.NaN : Date.parse(instant)
  return Number.isNaN(ms) ? undefined : ms
}

function readTurn(reading: Reading, turn: TurnState): void {
  for (const failure of turn.failures) {
    const endMs = Math.max(lastModelEnd(reading), msOf(failure.failedAt) ?? reading.clock)
    const startMs = Math.max(lastModelEnd(reading), endMs - failure.latencyMs)
    const target = reading.targetOf(turn)
    reading.models.push({ kind: 'model', startMs, endMs, status: 'failed', target, turn, failure })
    reading.clock = Math.max(reading.clock, endMs)
  }
  const answeredMs = readAnswer(reading, turn)
  for (const call of turn.toolCalls) {
    const tree = callTree(call, { reading, turn, leastMs: answeredMs })
    reading.calls.push(tree)
    reading.clock = Math.max(reading.clock, tree.span.endMs ?? tree.span.startMs)
  }
}

/** Reads the call of the turn that has not failed by itself; gives when it was answered. */
function readAnswer(reading: Reading, turn: TurnState): number {
  const { failures, status } = turn
  const lastFailure = failures.at(-1)
  // The last call of a turn that failed is one of its failures; one that was cut off is not.
  const hasFailed = status === 'FAILED' && lastFailure !== undefined
  if (hasFailed) return reading.clock
  const waited = reading.clock + (lastFailure?.retryInMs ?? 0)
  const startMs = Math.max(lastModelEnd(reading), msOf(turn.startedAt) ?? waited)
  const goesOn = status === 'RUNNING' && reading.goesOn
  const said = msOf(turn.completedAt) ?? derivedEnd(reading, turn, startMs)
  const noteStatus = goesOn ? 'running' : status === 'COMPLETED' ? 'done' : 'failed'
  const span: ModelSpan = {
    kind: 'model',
    startMs,
    status: noteStatus,
    target: reading.targetOf(turn),
    turn,
    ...(goesOn ? {} : { endMs: Math.max(startMs, said) }),
  }
  reading.models.push(span)
  const lastMs = span.endMs ?? startMs
  reading.clock = Math.max(reading.clock, lastMs)
  return lastMs
}

function derivedEnd(
  { clock, cutOffMs }: Reading,
  { status, latencyMs }: TurnState,
  startMs: number,
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
  const startMs = Math.max(leastMs, msOf(startedAt) ?? leastMs)
  const derived = durationMs === undefined ? (reading.cutOffMs ?? startMs) : startMs + durationMs
  const span: ToolSpan = {
    kind: 'tool',
    startMs,
    status: status === 'RUNNING' && !goesOn ? 'failed' : CALL_STATUS[status],
    target: reading.targetOf(turn, id),
    call,
    ...(goesOn ? {} : { endMs: Math.max(startMs, msOf(completedAt) ?? derived) }),
  }
  const steps = call.steps.map((step) => callTree(step, { reading, turn, leastMs: startMs }))
  const agents = reading.task.agentCalls
    .filter(({ toolCallId }) => toolCallId === id)
    .map((agentCall): CallTree => ({ span: agentSpan(agentCall, span), below: [] }))
  return { span, below: [...agents, ...steps] }
}

function agentSpan(agentCall: AgentCallState, call: ToolSpan): AgentSpan {
  const goesOn = agentCall.status === 'RUNNING' && call.endMs === undefined
  const startMs = Math.max(call.startMs, msOf(agentCall.startedAt) ?? call.startMs)
  const endMs = msOf(agentCall.completedAt) ?? call.endMs ?? startMs
  return {
    kind: 'agent',
    startMs,
    status: agentCall.status === 'RUNNING' && !goesOn ? 'stopped' : AGENT_STATUS[agentCall.status],
    target: call.target,
    agentCall,
    ...(goesOn ? {} : { endMs: Math.max(startMs, endMs) }),
  }
}

function lastModelEnd({ models, startMs }: Reading): number {
  const last = models.at(-1)
  return last === undefined ? startMs : (last.endMs ?? last.startMs)
}
