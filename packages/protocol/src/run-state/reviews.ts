/** Reviews of a run. A review is closed once; the first end counts. */
import type { ReviewDecisionKind, ReviewTimeoutAction } from '../schemas/enums.ts'
import type { ReviewRequested } from '../schemas/events/steering-events.ts'
import type { RunEventOf } from '../schemas/run-event.ts'
import { findIndexByKey, type ListEditor } from './lists.ts'

/** Review, as in `review_requested`, and its end. */
export interface ReviewState extends Readonly<Omit<ReviewRequested, 'type'>> {
  readonly status: 'OPEN' | 'DECIDED' | 'TIMED_OUT' | 'WITHDRAWN'
  /** Decision; present with DECIDED. */
  readonly decision?: ReviewDecisionKind
  readonly decidedBy?: string
  readonly decidedAt?: string
  readonly feedback?: string
  readonly revisedOutput?: string
  /** Action of the timeout; present with TIMED_OUT. */
  readonly action?: ReviewTimeoutAction
  /** Reason of the withdrawal; present with WITHDRAWN. */
  readonly reason?: string
  readonly withdrawnAt?: string
}

export type ReviewRunEvent = RunEventOf<
  'review_requested' | 'review_decided' | 'review_timed_out' | 'review_withdrawn'
>

type ReviewStates = readonly ReviewState[]

/** Returns the run after an event of a review; a review that is requested again is open again, at its index. */
export function applyToReviews<State extends { readonly reviews: ReviewStates }>(
  state: State,
  event: ReviewRunEvent,
  lists: ListEditor,
): State {
  const { reviews } = state
  const at = findReviewIndex(reviews, event.reviewId)
  const known = reviews[at]
  if (event.type === 'review_requested') {
    const review = openReview(event)
    return {
      ...state,
      reviews:
        known === undefined
          ? lists.append(reviews, review, review.reviewId)
          : lists.with(reviews, at, review),
    }
  }
  if (known === undefined) return state
  const changed = closeReview(known, event)
  return changed === known ? state : { ...state, reviews: lists.with(reviews, at, changed) }
}

/** Returns the review with an id; undefined if there is none. */
export function findReview(reviews: ReviewStates, reviewId: string): ReviewState | undefined {
  return reviews[findReviewIndex(reviews, reviewId)]
}

function findReviewIndex(reviews: ReviewStates, reviewId: string): number {
  return findIndexByKey(reviews, reviewId, (review) => review.reviewId)
}

function closeReview(
  review: ReviewState,
  event: Exclude<ReviewRunEvent, ReviewRequested>,
): ReviewState {
  switch (event.type) {
    case 'review_decided':
      return applyDecision(review, event)
    case 'review_timed_out':
      // Also sent when the review was decided elsewhere, so that panels close.
      return review.status === 'OPEN'
        ? { ...review, status: 'TIMED_OUT', action: event.action }
        : review
    case 'review_withdrawn': {
      const { reason, withdrawnAt } = event
      return review.status === 'OPEN'
        ? { ...review, status: 'WITHDRAWN', reason, withdrawnAt }
        : review
    }
  }
}

/** Applies a decision. It also counts after `review_timed_out`, which then only closes the panel of a viewer. */
function applyDecision(review: ReviewState, event: RunEventOf<'review_decided'>): ReviewState {
  if (review.status !== 'OPEN' && review.status !== 'TIMED_OUT') return review
  const { action: _, ...undecided } = review
  const { decision, decidedAt, decidedBy, feedback, revisedOutput, event: decidingEvent } = event
  return {
    ...undecided,
    status: 'DECIDED',
    decision,
    decidedAt,
    ...(decidedBy === undefined ? {} : { decidedBy }),
    ...(feedback === undefined ? {} : { feedback }),
    ...(revisedOutput === undefined ? {} : { revisedOutput }),
    ...(decidingEvent === undefined ? {} : { event: decidingEvent }),
  }
}

function openReview(event: RunEventOf<'review_requested'>): ReviewState {
  const { prompt, requiredRole, toolName, toolCallId, toolInput, answerSchema, waitsFor } = event
  return {
    reviewId: event.reviewId,
    kind: event.kind,
    taskDescription: event.taskDescription,
    taskOutput: event.taskOutput,
    timing: event.timing,
    timeoutMs: event.timeoutMs,
    onTimeout: event.onTimeout,
    taskName: event.taskName,
    taskIndex: event.taskIndex,
    attempt: event.attempt,
    agentRole: event.agentRole,
    requestedAt: event.requestedAt,
    status: 'OPEN',
    ...(prompt === undefined ? {} : { prompt }),
    ...(requiredRole === undefined ? {} : { requiredRole }),
    ...(toolName === undefined ? {} : { toolName }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(toolInput === undefined ? {} : { toolInput }),
    ...(answerSchema === undefined ? {} : { answerSchema }),
    ...(waitsFor === undefined ? {} : { waitsFor }),
  }
}
