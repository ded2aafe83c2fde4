/** Decides a single review. */
import { useMutation } from '@tanstack/react-query'

import { findFailureCode } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { DECISION } from '../../ui/labels.ts'
import { toast } from '../../ui/feedback/toasts.tsx'
import { forgetDraft, recordDecided } from './drafts.ts'
import { formatReviewLabel } from './review-labels.ts'

import type { ReviewLike } from './review-like.ts'
import type { ReviewDecisionBody } from '@tutti/protocol'

/** Codes of failures after which the server may have accepted the decision. */
export const UNCONFIRMED: ReadonlySet<string> = new Set([
  'CONNECTION_FAILED',
  'TIMED_OUT',
  'NOT_CONFIRMED',
])

/** State of a decision. */
export interface Deciding {
  readonly decide: (decision: ReviewDecisionBody) => void
  /** Whether the decision is being sent, or is accepted but not yet reported by the run. */
  readonly isBusy: boolean
  /** Error of a rejected decision. */
  readonly error: unknown
  /** Whether the review was already resolved. */
  readonly isTooLate: boolean
}

/** Decides a review. The decision is pending until the run reports it. */
export function useDecision(review: ReviewLike): Deciding {
  const { client } = useServer()
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: (decision: ReviewDecisionBody) => client.reviews.decide(review.reviewId, decision),
    // A decision delayed until the network is back might no longer be intended.
    networkMode: 'always',
    // The event may arrive before the response, so the decision is recorded as ours in advance.
    onMutate: () => recordDecided(review.reviewId, 'me'),
    onError: (error) => {
      const mayBeTaken = UNCONFIRMED.has(findFailureCode(error) ?? '')
      recordDecided(review.reviewId, mayBeTaken ? 'unknown' : 'other')
    },
    onSuccess: ({ waitsForBuild }, { decision }) => {
      forgetDraft(review.reviewId)
      const wait = waitsForBuild === undefined ? '' : `; the run waits for build ${waitsForBuild}`
      toast(`${formatReviewLabel(review)}: ${DECISION[decision].toLowerCase()}${wait}`)
    },
  })
  return {
    decide: mutate,
    isBusy: isPending || isSuccess,
    error: error ?? undefined,
    isTooLate: findFailureCode(error) === 'REVIEW_RESOLVED',
  }
}
