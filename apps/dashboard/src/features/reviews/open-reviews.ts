/**
 * The open reviews of all runs, updated by the events of the server. Pure.
 *
 * DASH-O1 Reviews are sorted by deadline; those without a deadline come last, oldest first.
 * DASH-O2 A closed review stays with its outcome until it is dismissed. The first outcome counts, except
 *    that a decision replaces any other.
 * DASH-O4 Calls of client tools and waits for events are not in the list, because no person decides them.
 * DASH-O3 Duplicate events and events of unknown reviews change nothing.
 */
import { PERSON_REVIEW_KINDS } from '@tutti/protocol/internal'

import { toDecidedEnd, fromReviewEvent, fromPendingReview } from './review-like.ts'

import type { NotedEvent } from '@tutti/react/internal'
import type { ReviewClosing, ReviewLike } from './review-like.ts'
import type { ReviewList } from '@tutti/protocol/internal'

/** The open reviews, and those closed while the page was shown. */
export interface OpenReviews {
  readonly open: readonly ReviewLike[]
  /** Newest last. */
  readonly closed: readonly ReviewLike[]
}

/** Maximum number of closed reviews kept. */
const MAX_CLOSED = 100

export const NO_OPEN_REVIEWS: OpenReviews = { open: [], closed: [] }

/** Converts the server's list; known reviews stay the same objects. */
export function toOpenReviews(
  { reviews }: ReviewList,
  before: OpenReviews = NO_OPEN_REVIEWS,
): OpenReviews {
  const known = new Map(before.open.map((review) => [review.reviewId, review]))
  const open = reviews.map((one) => {
    const before = known.get(one.reviewId)
    // Unlike the list, an event does not contain details of the run.
    const isKnown = before?.run !== undefined || one.ensemble === undefined
    return before !== undefined && isKnown ? before : fromPendingReview(one)
  })
  const ids = new Set(reviews.map(({ reviewId }) => reviewId))
  const gone = before.open.filter(({ reviewId }) => !ids.has(reviewId))
  const state: OpenReviews = { open: open.toSorted(compareByDeadline), closed: before.closed }
  return gone.reduce((next, review) => moveToClosed(next, review, { kind: 'gone' }), state)
}

/** Applies events of any run. */
export function applyListEvents(state: OpenReviews, events: readonly NotedEvent[]): OpenReviews {
  return events.reduce(applyListEvent, state)
}

/** Drops closed reviews. */
export function dropClosed(state: OpenReviews, reviewIds: readonly string[]): OpenReviews {
  const closed = state.closed.filter(({ reviewId }) => !reviewIds.includes(reviewId))
  return closed.length === state.closed.length ? state : { ...state, closed }
}

function applyListEvent(state: OpenReviews, event: NotedEvent): OpenReviews {
  switch (event.type) {
    case 'review_requested': {
      if (!PERSON_REVIEW_KINDS.includes(event.kind)) return state
      const review = fromReviewEvent(event)
      const { reviewId } = review
      const others = state.open.filter((other) => other.reviewId !== reviewId)
      const open = [...others, review].toSorted(compareByDeadline)
      return dropClosed({ ...state, open }, [reviewId])
    }
    case 'review_decided':
      return closeReview(state, event.reviewId, toDecidedEnd(event))
    case 'review_timed_out':
      return closeReview(state, event.reviewId, { kind: 'timed_out', action: event.action })
    case 'review_withdrawn':
      return closeReview(state, event.reviewId, { kind: 'withdrawn', reason: event.reason })
    case 'run_result':
      return state.open
        .filter(({ runId }) => runId === event.runId)
        .reduce((next, review) => moveToClosed(next, review, RUN_ENDED), state)
    default:
      return state
  }
}

const RUN_ENDED: ReviewClosing = { kind: 'withdrawn', reason: 'The run has ended' }

function closeReview(state: OpenReviews, reviewId: string, end: ReviewClosing): OpenReviews {
  const review = state.open.find((one) => one.reviewId === reviewId)
  if (review !== undefined) return moveToClosed(state, review, end)
  const closed = state.closed.find((one) => one.reviewId === reviewId)
  const isBetter = end.kind === 'decided' && closed?.end?.kind !== 'decided'
  return closed === undefined || !isBetter ? state : moveToClosed(state, closed, end)
}

function moveToClosed(state: OpenReviews, review: ReviewLike, end: ReviewClosing): OpenReviews {
  const isOther = ({ reviewId }: ReviewLike): boolean => reviewId !== review.reviewId
  return {
    open: state.open.filter(isOther),
    closed: [...state.closed.filter(isOther), { ...review, end }].slice(-MAX_CLOSED),
  }
}

/** Returns open and closed reviews in display order: closing a review does not move it. */
export function sortReviews({ open, closed }: OpenReviews): readonly ReviewLike[] {
  return [...open, ...closed].toSorted(compareByDeadline)
}

function compareByDeadline(one: ReviewLike, other: ReviewLike): number {
  const [a, b] = [one, other].map(({ expiresAt }) =>
    expiresAt === undefined ? Infinity : Date.parse(expiresAt),
  )
  const byExpiry = a === b ? 0 : (a ?? 0) - (b ?? 0)
  return byExpiry || Date.parse(one.openedAt) - Date.parse(other.openedAt)
}
