/** Decides a review. */
import { useMutation } from '@tanstack/react-query'

import { failureCode } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { DECISION } from '../../ui/labels.ts'
import { toast } from '../../ui/feedback/toasts.tsx'
import { forgetDraft, noteDecided } from './drafts.ts'
import { reviewTitle } from './review-words.ts'

import type { ReviewLike } from './review-like.ts'
import type { ReviewDecisionBody } from '@tutti/protocol'

/** Codes of failures after which the server may have taken the decision. */
export const UNCONFIRMED: ReadonlySet<string> = new Set([
  'CONNECTION_FAILED',
  'TIMED_OUT',
  'NOT_CONFIRMED',
])

/** How a decision goes. */
export interface Deciding {
  readonly decide: (decision: ReviewDecisionBody) => void
  /** It is on its way, or applied and not told of by the run yet. */
  readonly isBusy: boolean
  /** Why it was not taken. */
  readonly error: unknown
  /** Whether somebody else, or time, was faster. */
  readonly isTooLate: boolean
}

/** Decides a review. The run tells when it is decided; until then the decision is under way. */
export function useDecision(review: ReviewLike): Deciding {
  const { client } = useServer()
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: (decision: ReviewDecisionBody) => client.reviews.decide(review.reviewId, decision),
    // A decision that is held back until the network is there again would be made at another time.
    networkMode: 'always',
    // The event may come before the answer: what is on its way is taken for what closes the review.
    onMutate: () => noteDecided(review.reviewId, 'me'),
    onError: (error) => {
      const mayBeTaken = UNCONFIRMED.has(failureCode(error) ?? '')
      noteDecided(review.reviewId, mayBeTaken ? 'unknown' : 'other')
    },
    onSuccess: (_answer, { decision }) => {
      forgetDraft(review.reviewId)
      toast(`${reviewTitle(review)}: ${DECISION[decision].toLowerCase()}`)
    },
  })
  return {
    decide: mutate,
    isBusy: isPending || isSuccess,
    error: error ?? undefined,
    isTooLate: failureCode(error) === 'REVIEW_RESOLVED',
  }
}
