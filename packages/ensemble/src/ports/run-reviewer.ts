/** The port to the reviewers of a run: open reviews and their decisions. */
import type { ApprovalRequest } from '@tutti/core'
import type {
  AwaitedEvent,
  DecidingEvent,
  ReviewKind,
  ReviewTimeoutAction,
  ReviewTiming,
} from '@tutti/protocol/internal'

interface ReviewedTask {
  readonly taskName: string
  readonly taskIndex: number
  readonly attempt: number
  readonly agentRole: string
  /** Description of the task, or of the tool call or question if a tool requested the review. */
  readonly taskDescription: string
  /** Output under review; empty before and during the task. */
  readonly taskOutput: string
}

/** A review that waits for a decision. */
export interface OpenReview extends ReviewedTask {
  readonly reviewId: string
  readonly runId: string
  readonly kind: ReviewKind
  /** Time of the review relative to its task. */
  readonly timing: ReviewTiming
  /** Question for the reviewer; always present with QUESTION. */
  readonly prompt?: string
  /** Remaining time in milliseconds; Infinity if the review waits forever. */
  readonly timeoutMs: number
  readonly onTimeout: ReviewTimeoutAction
  readonly requiredRole?: string
  /** Time at which it opened, in milliseconds since 1970. */
  readonly openedAt: number
  /** External events that decide the review; empty for a sleep. Absent for a review that no event decides. */
  readonly waitsFor?: readonly AwaitedEvent[]
  /** Tool call that waits; present only with DURING_EXECUTION. */
  readonly approval?: ApprovalRequest
}

/** Decision of a reviewer. */
export type ReviewAnswer = (
  | { readonly action: 'CONTINUE' }
  /** Changes the description before a task, and the output after it. */
  | { readonly action: 'EDIT'; readonly text: string }
  /** Changes the input of the tool call under review, answers a question, or delivers the data of an event. */
  | { readonly action: 'EDIT'; readonly input: unknown; readonly event?: DecidingEvent }
  /** Before a task, fails it. After a task, repeats it with the feedback. */
  | { readonly action: 'REJECT'; readonly feedback?: string }
  /** Ends the whole run; its completed tasks stay completed. */
  | { readonly action: 'EXIT_EARLY' }
) & {
  /** Id of the decision; a decision that is sent again under its id counts once. */
  readonly id?: string
  /** Name of the reviewer, for the record. */
  readonly decidedBy?: string
}

/** An external event for a run. */
export interface DeliveredEvent {
  readonly name: string
  /** Correlation key; absent for a wait without a key. */
  readonly key?: string
  /** JSON that the schema of the wait accepts. */
  readonly data?: unknown
  /** Id of the event. @default a random one */
  readonly id?: string
}

/** Decides the reviews of a run. */
export interface RunReviewer {
  /**
   * Decides a review. The signal aborts when the decision is no longer needed: another decision came first,
   * the review timed out, or the task was stopped.
   */
  decide(review: OpenReview, signal: AbortSignal): Promise<ReviewAnswer>
}
