/** Pure: when an event happened, as it says itself. */
import type { LoggedRunEvent } from '@tutti/protocol'

/**
 * In milliseconds since 1970; undefined for tokens, which come too often to be looked at, and where an event does not
 * say it.
 */
export function eventInstant(event: LoggedRunEvent): number | undefined {
  const text = instantText(event)
  return text === undefined ? undefined : Date.parse(text)
}

function instantText(event: LoggedRunEvent): string | undefined {
  switch (event.type) {
    case 'run_queued':
      return event.queuedAt
    case 'run_resumed':
      return event.resumedAt
    case 'run_cancelling':
      return event.requestedAt
    case 'review_requested':
      return event.requestedAt
    case 'ensemble_started':
    case 'task_started':
    case 'llm_iteration_started':
    case 'delegation_started':
      return event.startedAt
    case 'task_input':
    case 'tool_progress':
      return event.sentAt
    case 'llm_iteration_completed':
    case 'tool_called':
    case 'delegation_completed':
    case 'task_completed':
    case 'ensemble_completed':
      return event.completedAt
    case 'llm_iteration_failed':
    case 'delegation_failed':
    case 'task_attempt_failed':
    case 'task_failed':
      return event.failedAt
    case 'task_skipped':
      return event.skippedAt
    case 'review_decided':
      return event.decidedAt
    case 'review_withdrawn':
      return event.withdrawnAt
    case 'model_switched':
      return event.switchedAt
    case 'directive_active':
      return event.activeAt
    case 'directive_delivered':
      return event.deliveredAt
    default:
      return undefined
  }
}
