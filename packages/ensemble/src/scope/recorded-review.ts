import type { StepOf } from '../ports/run-step.ts'

/** Steps of one review. */
export interface RecordedReview {
  readonly opened: StepOf<'gate_opened'>
  /** End of the review; undefined while it is open. */
  readonly closed: StepOf<'gate_closed'> | undefined
  /** Whether its last step is copied from the parent of a fork. */
  readonly isCopied: boolean
}
