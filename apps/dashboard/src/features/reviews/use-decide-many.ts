/** Decides one or more reviews from the list. */
import { useState } from 'react'

import { findFailureCode } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { DECISION } from '../../ui/labels.ts'
import { formatPlural } from '../../lib/format.ts'
import { toast } from '../../ui/feedback/toasts.tsx'
import { recordDecided } from './drafts.ts'
import { UNCONFIRMED } from './use-decision.ts'

import type { ReviewDecisionBody } from '@tutti/protocol'
import type { ReviewLike } from './review-like.ts'

/** A failed decision and its error. */
export interface FailedDecision {
  readonly review: ReviewLike
  readonly error: unknown
}

/** State of the decisions made from the list. */
export interface DecidingMany {
  readonly decide: (reviews: readonly ReviewLike[], decision: ReviewDecisionBody) => Promise<void>
  readonly isBusy: boolean
  readonly failed: readonly FailedDecision[]
  readonly dismissFailed: () => void
}

/** Decides reviews one after another; a failure does not stop the rest. */
export function useDecideMany(): DecidingMany {
  const { client } = useServer()
  const [isBusy, setBusy] = useState(false)
  const [failed, setFailed] = useState<readonly FailedDecision[]>([])
  const decide: DecidingMany['decide'] = async (reviews, decision) => {
    setBusy(true)
    const failures: FailedDecision[] = []
    for (const review of reviews) {
      // The event may arrive before the response, so the decision is recorded as ours in advance.
      recordDecided(review.reviewId, 'me')
      try {
        await client.reviews.decide(review.reviewId, decision)
      } catch (error) {
        recordDecided(
          review.reviewId,
          UNCONFIRMED.has(findFailureCode(error) ?? '') ? 'unknown' : 'other',
        )
        failures.push({ review, error })
      }
    }
    const done = reviews.length - failures.length
    if (done > 0)
      toast(`${formatPlural(done, 'review')}: ${DECISION[decision.decision].toLowerCase()}`)
    setFailed(failures)
    setBusy(false)
  }
  return { decide, isBusy, failed, dismissFailed: () => setFailed([]) }
}
