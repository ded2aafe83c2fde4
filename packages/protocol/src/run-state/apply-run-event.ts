/**
 * State of a run, derived from its events.
 *
 * PROTO-S1 Pure: the same events give the same state, and a returned state never changes.
 * PROTO-S2 Parts that an event does not change are shared with the previous state; an event without effect returns the
 *    same state.
 * PROTO-S3 Tolerant: an event with an unknown type, task, review or attempt has no effect and does not throw.
 * PROTO-S4 After `run_resumed`, and after a failed model call, a turn that begins again replaces the earlier one, so
 *    that no token, tool call or cost counts twice.
 * PROTO-S5 The cost of a token does not depend on the length of the text.
 * PROTO-S6 An event of the last turn of an attempt, as nearly all are, does not read earlier turns.
 */
import type { RunEvent } from '../schemas/run-event.ts'
import { applyToDelegations } from './delegations.ts'
import { applyToDirectives, type DirectiveEvent } from './directives.ts'
import { applyToReviews } from './reviews.ts'
import { applyToRun } from './run-level.ts'
import { emptyRunState, type RunState } from './run-state.ts'
import { deriveStatus } from './run-status.ts'
import { applyToTasks, isQuietEvent } from './tasks.ts'
import { sumTotals } from './usage.ts'

/** Returns the state of a run after all of these events, which belong to one run and are in order. */
export function runStateAfter(events: Iterable<RunEvent>): RunState {
  let state = emptyRunState()
  for (const event of events) state = applyRunEvent(state, event)
  return state
}

/** Returns the state after one more event, with or without its position in the log. */
export function applyRunEvent(state: RunState, event: RunEvent): RunState {
  const changed = applyToState(state, event)
  return changed === state || isQuietEvent(event) ? changed : updateDerived(changed, state)
}

function applyToState(state: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case 'run_queued':
    case 'run_resumed':
    case 'run_forked':
    case 'run_cancelling':
    case 'ensemble_started':
    case 'file_changed':
    case 'model_switched':
    case 'ensemble_completed':
    case 'run_result':
      return applyToRun(state, event)
    case 'task_started':
    case 'task_input':
    case 'task_completed':
    case 'task_attempt_failed':
    case 'task_failed':
    case 'task_skipped':
    case 'metrics_snapshot':
    case 'llm_iteration_started':
    case 'reasoning':
    case 'token':
    case 'llm_iteration_completed':
    case 'llm_iteration_failed':
    case 'tool_progress':
    case 'tool_called':
    case 'agent_tool_invoked':
    case 'agent_tool_progress':
    case 'agent_tool_turn':
    case 'agent_tool_completed':
    case 'agent_tool_terminated':
    case 'agent_tool_error':
      return applyToTasks(state, event)
    case 'delegation_started':
    case 'delegation_completed':
    case 'delegation_failed':
      return applyToDelegations(state, event)
    case 'review_requested':
    case 'review_decided':
    case 'review_timed_out':
    case 'review_withdrawn': {
      const reviews = applyToReviews(state.reviews, event)
      return reviews === state.reviews ? state : { ...state, reviews }
    }
    case 'directive_active':
    case 'directive_delivered': {
      const directives = applyToDirectives(state.directives, event)
      const profile = findAppliedProfile(event)
      if (directives === state.directives && profile === undefined) return state
      return { ...state, directives, ...(profile === undefined ? {} : { profile }) }
    }
    default:
      return state
  }
}

function updateDerived(state: RunState, before: RunState): RunState {
  const status = deriveStatus(state)
  if (!hasNewUsage(state.tasks, before.tasks)) return { ...state, status }
  const totals = sumTotals(state.tasks)
  const { totalTokens, totalToolCalls, costUsd } = state.totals
  const isSame =
    totals.totalTokens === totalTokens &&
    totals.totalToolCalls === totalToolCalls &&
    totals.costUsd === costUsd
  return { ...state, status, totals: isSame ? state.totals : totals }
}

/** Whether totals may have changed: most events do not change the usage of any task, but a new attempt does. */
function hasNewUsage(tasks: RunState['tasks'], before: RunState['tasks']): boolean {
  if (tasks === before) return false
  return tasks.some((task, index) => {
    const known = before[index]
    return task !== known && task.usage !== known?.usage
  })
}

/** Returns the profile that the event applies to the whole run. */
function findAppliedProfile(event: DirectiveEvent): string | undefined {
  if (event.type !== 'directive_active' || event.action !== 'APPLY_PROFILE') return undefined
  return event.to === undefined ? event.value : undefined
}
