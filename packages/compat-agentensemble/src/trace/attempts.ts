/**
 * Derives the model turns, tool calls and delegations of each attempt at a task, with their times, from the events of
 * a run. Pure.
 *
 * A call starts no earlier than the end of its turn, and no span ends before it starts, even if a clock was set back or a
 * timestamp was rounded.
 *
 * AE-E6 The usage of an attempt so far is that which its end would state: with that of called agents, and without what a
 *    fork has copied.
 */
import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'
import { addUsageSums, NO_USAGE, readEventUsage, type UsageSum } from '@tutti/protocol/internal'

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
  /** Time of the end in milliseconds since 1970. */
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
  turn?: { readonly started: RunEventOf<'llm_iteration_started'>; readonly startedAt: number }
}

/** Returns the attempts of a run in the order in which they started. */
export function collectAttempts(events: readonly LoggedRunEvent[]): readonly TracedAttempt[] {
  const all = new Map<string, Open>()
  const delegations = new Map<string, TracedDelegation>()
  for (const event of events) {
    if (event.type === 'task_started') {
      all.set(keyOf(event), { started: event, turns: [], delegations: [], used: NOT_USED })
    }
    if (event.type === 'run_forked') for (const attempt of all.values()) attempt.used = NOT_USED
    const attempt = 'attempt' in event ? all.get(keyOf(event)) : undefined
    if (attempt !== undefined) take(attempt, event, delegations)
  }
  return [...all.values()]
}

function keyOf({ taskName, attempt }: Pick<RunEventOf<'task_started'>, 'taskName' | 'attempt'>) {
  return JSON.stringify([taskName, attempt])
}

/** Adds an event to its attempt; `delegations` are all of the run by their id. */
function take(
  attempt: Open,
  event: LoggedRunEvent,
  delegations: Map<string, TracedDelegation>,
): void {
  attempt.used = addUsage(attempt.used, event)
  switch (event.type) {
    case 'task_input':
      attempt.input ??= event
      break
    case 'llm_iteration_started':
      attempt.turn = { started: event, startedAt: Date.parse(event.startedAt) }
      break
    case 'llm_iteration_completed':
      endTurn(attempt, event)
      break
    case 'tool_called':
      endCall(attempt, event)
      break
    case 'delegation_started': {
      const begun = { started: event, startedAt: Date.parse(event.startedAt) }
      attempt.delegations.push(begun)
      delegations.set(event.delegationId, begun)
      break
    }
    case 'delegation_completed':
    case 'delegation_failed': {
      const begun = delegations.get(event.delegationId)
      if (begun === undefined) break
      begun.end = event
      begun.endedAt = Date.parse('completedAt' in event ? event.completedAt : event.failedAt)
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

function endTurn(attempt: Open, completed: RunEventOf<'llm_iteration_completed'>): void {
  const { turn } = attempt
  if (turn === undefined) return
  const completedAt = Math.max(turn.startedAt, Date.parse(completed.completedAt))
  attempt.turns.push({ ...turn, completed, completedAt, calls: [] })
  delete attempt.turn
}

function endCall(attempt: Open, event: RunEventOf<'tool_called'>): void {
  const turn = attempt.turns.findLast(
    ({ completed }) => completed.iterationIndex === event.iterationIndex,
  )
  if (turn === undefined) return
  const endedAt = Date.parse(event.completedAt)
  const startedAt = Math.max(turn.completedAt, endedAt - event.durationMs)
  turn.calls.push({ event, startedAt, completedAt: Math.max(startedAt, endedAt) })
}
