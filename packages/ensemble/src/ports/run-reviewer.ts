/** The port to the reviewers of a run: what they are asked, and what they decide. */
import type { ApprovalRequest } from '@tutti/core'
import type { ReviewTimeoutAction, ReviewTiming } from '@tutti/protocol'

/** The task of a review. */
interface ReviewedTask {
  readonly taskName: string
  readonly taskIndex: number
  readonly attempt: number
  readonly agentRole: string
  /** Description of the task; of the tool call, when a tool requested the review. */
  readonly taskDescription: string
  /** The output under review; empty before and during the task. */
  readonly taskOutput: string
}

/** A review that waits for a decision. */
export interface OpenReview extends ReviewedTask {
  readonly reviewId: string
  readonly runId: string
  /** When it was requested, relative to its task. */
  readonly timing: ReviewTiming
  readonly prompt?: string
  /** Time left in milliseconds; Infinity when the review waits forever. */
  readonly timeoutMs: number
  readonly onTimeout: ReviewTimeoutAction
  readonly requiredRole?: string
  /** Milliseconds since 1970. */
  readonly openedAt: number
  /** The tool call that waits; present exactly with DURING_EXECUTION. */
  readonly approval?: ApprovalRequest
}

/** The decision of a reviewer. */
export type ReviewAnswer = (
  | { readonly action: 'CONTINUE' }
  /** New description before a task, new output after it. */
  | { readonly action: 'EDIT'; readonly text: string }
  /** New input of the tool call under review. */
  | { readonly action: 'EDIT'; readonly input: unknown }
  /** Before a task: the task fails. After it: the task runs again with the feedback. */
  | { readonly action: 'REJECT'; readonly feedback?: string }
  /** Ends the whole run; its completed tasks stay completed. */
  | { readonly action: 'EXIT_EARLY' }
) & {
  /** Identifies the decision: the same decision sent again under its id counts once. */
  readonly id?: string
  /** Name of the reviewer, for the record. */
  readonly decidedBy?: string
}

/** Decides the reviews of a run. */
export interface RunReviewer {
  /**
   * Decides a review. The signal aborts when the decision is no longer needed: another one came first, the time
   * is over, or the task was stopped.
   */
  decide(review: OpenReview, signal: AbortSignal): Promise<ReviewAnswer>
}
