/**
 * Pure: the reviews of all runs that wait for a person, kept by the events of the server.
 *
 * O1 Those that are over soonest come first; those that wait for ever last, the oldest first.
 * O2 A review that was closed is kept apart with how it was closed, until it is dismissed: who looks at it
 *    is told. The first end counts, but for a decision that comes after silence.
 * O3 An event that is told twice, or tells of a review that is not known, changes nothing.
 */
import { decidedEnd, reviewOfEvent, reviewOfPending } from './review-like.ts'

import type { ListEvent } from '../../api/server-feed.ts'
import type { ReviewClosing, ReviewLike } from './review-like.ts'
import type { ReviewList } from '@tutti/protocol'

/** The reviews that wait, and those that were closed under the eyes of the reader. */
export interface OpenReviews {
  readonly open: readonly ReviewLike[]
  /** The newest last. */
  readonly closed: readonly ReviewLike[]
}

/** Closed reviews that are kept; more than anybody looks at. */
const MAX_CLOSED = 100

/** No review waits. */
export const NO_OPEN_REVIEWS: OpenReviews = { open: [], closed: [] }

/** What the server's list says; reviews that were known before stay the same values. */
export function openReviewsFrom(
  { reviews }: ReviewList,
  before: OpenReviews = NO_OPEN_REVIEWS,
): OpenReviews {
  const known = new Map(before.open.map((review) => [review.reviewId, review]))
  const open = reviews.map((one) => {
    const before = known.get(one.reviewId)
    // An event does not tell of the run what the list does.
    const isKnown = before?.run !== undefined || one.ensemble === undefined
    return before !== undefined && isKnown ? before : reviewOfPending(one)
  })
  const ids = new Set(reviews.map(({ reviewId }) => reviewId))
  const gone = before.open.filter(({ reviewId }) => !ids.has(reviewId))
  const state: OpenReviews = { open: open.toSorted(byEnd), closed: before.closed }
  return gone.reduce((next, review) => withClosed(next, review, { kind: 'gone' }), state)
}

/** The reviews after events of any run. */
export function openReviewsAfter(state: OpenReviews, events: readonly ListEvent[]): OpenReviews {
  return events.reduce(afterOne, state)
}

/** Without closed reviews that were seen. */
export function withoutClosed(state: OpenReviews, reviewIds: readonly string[]): OpenReviews {
  const closed = state.closed.filter(({ reviewId }) => !reviewIds.includes(reviewId))
  return closed.length === state.closed.length ? state : { ...state, closed }
}

function afterOne(state: OpenReviews, event: ListEvent): OpenReviews {
  switch (event.type) {
    case 'review_requested': {
      const review = reviewOfEvent(event)
      const { reviewId } = review
      const others = state.open.filter((other) => other.reviewId !== reviewId)
      const open = [...others, review].toSorted(byEnd)
      return withoutClosed({ ...state, open }, [reviewId])
    }
    case 'review_decided':
      return closeOne(state, event.reviewId, decidedEnd(event))
    case 'review_timed_out':
      return closeOne(state, event.reviewId, { kind: 'timed_out', action: event.action })
    case 'review_withdrawn':
      return closeOne(state, event.reviewId, { kind: 'withdrawn', reason: event.reason })
    case 'run_result':
      return state.open
        .filter(({ runId }) => runId === event.runId)
        .reduce((next, review) => withClosed(next, review, RUN_ENDED), state)
    default:
      return state
  }
}

const RUN_ENDED: ReviewClosing = { kind: 'withdrawn', reason: 'The run has ended' }

function closeOne(state: OpenReviews, reviewId: string, end: ReviewClosing): OpenReviews {
  const review = state.open.find((one) => one.reviewId === reviewId)
  if (review !== undefined) return withClosed(state, review, end)
  const closed = state.closed.find((one) => one.reviewId === reviewId)
  const isBetter = end.kind === 'decided' && closed?.end?.kind !== 'decided'
  return closed === undefined || !isBetter ? state : withClosed(state, closed, end)
}

function withClosed(state: OpenReviews, review: ReviewLike, end: ReviewClosing): OpenReviews {
  const isOther = ({ reviewId }: ReviewLike): boolean => reviewId !== review.reviewId
  return {
    open: state.open.filter(isOther),
    closed: [...state.closed.filter(isOther), { ...review, end }].slice(-MAX_CLOSED),
  }
}

/** Open and closed reviews in the order in which a page shows them: nothing moves when one is closed. */
export function inOrder({ open, closed }: OpenReviews): readonly ReviewLike[] {
  return [...open, ...closed].toSorted(byEnd)
}

function byEnd(one: ReviewLike, other: ReviewLike): number {
  const [a, b] = [one, other].map(({ expiresAt }) =>
    expiresAt === undefined ? Infinity : Date.parse(expiresAt),
  )
  const byExpiry = a === b ? 0 : (a ?? 0) - (b ?? 0)
  return byExpiry || Date.parse(one.openedAt) - Date.parse(other.openedAt)
}
