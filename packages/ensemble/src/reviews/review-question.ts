import type { ReviewSettings } from '../definition/review-settings.ts'
import type { ApprovalRequest } from '@tutti/core'
import type { AwaitedEvent, ReviewKind, ReviewTiming } from '@tutti/protocol/internal'

/** A request for a review. */
export interface ReviewQuestion {
  readonly kind: ReviewKind
  readonly timing: ReviewTiming
  /** Identifies the review within its attempt, also after a restart. */
  readonly slot: string
  readonly taskDescription: string
  readonly taskOutput?: string
  readonly settings: ReviewSettings
  readonly approval?: ApprovalRequest
  /** Time at which the review ends, in milliseconds since 1970, instead of the time limit of its settings. */
  readonly endsAt?: number
  /** External events that decide the review. */
  readonly waitsFor?: readonly AwaitedEvent[]
  /** Aborts when the decision is no longer needed. @default the signal of the task */
  readonly signal?: AbortSignal
  /** Returns the problem of an edited output; undefined if it is valid. */
  readonly findTextProblem?: (text: string) => Promise<string | undefined>
}
