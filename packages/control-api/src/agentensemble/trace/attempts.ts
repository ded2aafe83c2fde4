/**
 * Derives the model turns, tool calls and delegations of each attempt at a task, with their times, from the events of
 * a run. Pure.
 *
 * Events of turns, calls and delegations have timestamps. Logs of earlier versions have only durations. There a turn or
 * a delegation starts at the end of the work before it in its task, and the calls of a turn start together at its end.
 * In every log, a call starts no earlier than the end of its turn, and no span ends before it starts, even if a clock
 * was set back or a timestamp was rounded.
 *
 * API-E6 The usage of an attempt so far is that which its end would state: with that of called agents, and without what a
 *    fork has copied.
 */
import {
  addUsageSums,
  NO_USAGE,
  readEventUsage,
  type LoggedRunEvent,
  type RunEventOf,
  type UsageSum,
} from '@tutti/protocol'

/** Start and end in milliseconds since 1970. */
export interface WorkSpan {
  readonly startedAt: number
  readonly completedAt: number
}

/** A tool call, or a call that a tool made itself. */
export interface AttemptCall extends WorkSpan {
  readonly event: RunEventOf<'tool_called'>
}

/** A completed model turn with the tool calls that it requested. */
export interface TracedTurn extends WorkSpan {
  readonly started: RunEventOf<'llm_iteration_started'>
  readonly completed: RunEventOf<'llm_iteration_completed'>
  readonly calls: AttemptCall[]
}

/** A delegation of work to another task. */
export interface TracedDelegation {
  readonly started: RunEventOf<'delegation_started'>
  readonly startedAt: number
  end?: RunEventOf<'delegation_completed' | 'delegation_failed'>
  /** Time of the end in milliseconds since 1970, if its event has a timestamp. */
  endedAt?: number
}

/** One attempt at a task. */
export interface TracedAttempt {
  readonly started: RunEventOf<'task_started'>
  input?: RunEventOf<'task_input'>
  readonly turns: TracedTurn[]
  readonly delegations: TracedDelegation[]
  end?: RunEventOf<'task_completed' | 'task_attempt_failed' | 'task_failed'>
  /** Usage so far, as at its end: without what a fork has copied. */
  used: TracedUsage
}

/** Usage of an attempt. */
export interface TracedUsage extends UsageSum {
  readonly toolCalls: number
}

interface Open extends TracedAttempt {
  /** End of the last known work of the attempt. */
  clock: number
  turn?: { readonly started: RunEventOf<'llm_iteration_started'>; readonly startedAt: number }
}

/** Returns the attempts of a run in the order in which they started. */
export function collectAttempts(events: readonly LoggedRunEvent[]): readonly TracedAttempt[] {
  const all = new Map<string, Open>()
  for (const event of events) {
    if (event.type === 'task_started') {
      all.set(keyOf(event), {
        started: event,
        turns: [],
        delegations: [],
        used: NOT_USED,
        clock: Date.parse(event.startedAt),
      })
    }
    if (event.type === 'run_forked') for (const attempt of all.values()) attempt.used = NOT_USED
    const attempt = 'attempt' in event ? all.get(keyOf(event)) : undefined
    if (attempt !== undefined) take(attempt, event)
  }
  return [...all.values()]
}

function keyOf({ taskName, attempt }: Pick<RunEventOf<'task_started'>, 'taskName' | 'attempt'>) {
  return JSON.stringify([taskName, attempt])
}

function take(attempt: Open, event: LoggedRunEvent): void {
  const at = readInstant(event)
  if (at !== undefined) attempt.clock = Math.max(attempt.clock, at)
  attempt.used = addUsage(attempt.used, event)
  switch (event.type) {
    case 'task_input':
      attempt.input ??= event
      break
    case 'llm_iteration_started':
      attempt.turn = { started: event, startedAt: at ?? attempt.clock }
      break
    case 'llm_iteration_completed':
      endTurn(attempt, event, at)
      break
    case 'tool_called':
      endCall(attempt, event, at)
      break
    case 'delegation_started':
      attempt.delegations.push({ started: event, startedAt: at ?? attempt.clock })
      break
    case 'delegation_completed':
    case 'delegation_failed': {
      const { delegationId } = event
      const begun = attempt.delegations.find(({ started }) => started.delegationId === delegationId)
      if (begun === undefined) break
      begun.end = event
      if (at !== undefined) begun.endedAt = at
      break
    }
    case 'task_completed':
    case 'task_attempt_failed':
    case 'task_failed':
      attempt.end = event
      break
  }
}

const NOT_USED: TracedUsage = { ...NO_USAGE, toolCalls: 0 }

/** Returns the usage of an attempt after one of its events. */
function addUsage(used: TracedUsage, event: LoggedRunEvent): TracedUsage {
  switch (event.type) {
    case 'task_completed':
    case 'task_attempt_failed':
    case 'task_failed': {
      const { inputTokens, outputTokens, toolCallCount: toolCalls, costUsd } = event
      return { inputTokens, outputTokens, toolCalls, ...(costUsd === undefined ? {} : { costUsd }) }
    }
    case 'tool_called':
      return event.parentToolCallId === undefined
        ? { ...used, toolCalls: used.toolCalls + 1 }
        : used
    default: {
      const more = readEventUsage(event)
      if (more === undefined) return used
      // An agent that does not report its cost counts as free.
      const cost = more.kind === 'agent' ? { costUsd: more.costUsd ?? 0 } : {}
      return { toolCalls: used.toolCalls, ...addUsageSums([used, { ...more, ...cost }]) }
    }
  }
}

function endTurn(
  attempt: Open,
  completed: RunEventOf<'llm_iteration_completed'>,
  at: number | undefined,
): void {
  const { turn } = attempt
  if (turn === undefined) return
  const { startedAt } = turn
  const ended = at ?? Math.max(attempt.clock, startedAt + completed.latencyMs)
  const completedAt = Math.max(startedAt, ended)
  attempt.turns.push({ ...turn, completed, completedAt, calls: [] })
  attempt.clock = Math.max(attempt.clock, completedAt)
  delete attempt.turn
}

function endCall(attempt: Open, event: RunEventOf<'tool_called'>, at: number | undefined): void {
  const turn = attempt.turns.findLast(
    ({ completed }) => completed.iterationIndex === event.iterationIndex,
  )
  if (turn === undefined) return
  const begun = at === undefined ? turn.completedAt : at - event.durationMs
  const startedAt = Math.max(turn.completedAt, begun)
  const completedAt = Math.max(startedAt, at ?? startedAt + event.durationMs)
  turn.calls.push({ event, startedAt, completedAt })
  attempt.clock = Math.max(attempt.clock, completedAt)
}

/** Returns the timestamp of an event in milliseconds since 1970; undefined if it has none. */
function readInstant(event: LoggedRunEvent): number | undefined {
  const at = readTimestamp(event)
  return at === undefined ? undefined : Date.parse(at)
}

function readTimestamp(event: LoggedRunEvent): string | undefined {
  switch (event.type) {
    case 'llm_iteration_started':
    case 'delegation_started':
      return event.startedAt
    case 'llm_iteration_completed':
    case 'tool_called':
    case 'delegation_completed':
      return event.completedAt
    case 'delegation_failed':
      return event.failedAt
    case 'task_input':
    case 'tool_progress':
      return event.sentAt
    case 'llm_iteration_failed':
      return event.failedAt
    case 'review_requested':
      return event.requestedAt
    case 'directive_delivered':
      return event.deliveredAt
    default:
      return undefined
  }
}
