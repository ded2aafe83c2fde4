/**
 * AgentEnsemble's dashboard closes the panel of a gate for `review_timed_out` alone; of a gate that
 * somebody decided elsewhere, or that is asked for no longer, it would keep it.
 */
import type { LoggedRunEvent, ReviewDecisionKind, ReviewTimeoutAction } from '@tutti/protocol'

/** What a decision comes to, in the words for a gate that nobody decided. */
const ACTION: Readonly<Record<ReviewDecisionKind, ReviewTimeoutAction>> = {
  CONTINUE: 'CONTINUE',
  EDIT: 'CONTINUE',
  EXIT_EARLY: 'EXIT_EARLY',
  REJECT: 'FAIL',
}

/**
 * What follows an event that closes a gate: the `review_timed_out` that closes its panel, at the same place
 * of the log and under the same id, as the log has it not. Undefined for every other event.
 */
export function panelCloser(event: LoggedRunEvent): LoggedRunEvent | undefined {
  if (event.type !== 'review_decided' && event.type !== 'review_withdrawn') return undefined
  const { reviewId, runId, seq, id } = event
  const action = event.type === 'review_decided' ? ACTION[event.decision] : 'EXIT_EARLY'
  return { type: 'review_timed_out', reviewId, action, runId, seq, id }
}
