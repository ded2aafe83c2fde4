/** Decides one or several reviews from the list. */
import { useState } from 'react'

import { failureCode } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { DECISION } from '../../ui/labels.ts'
import { plural } from '../../lib/format.ts'
import { toast } from '../../ui/feedback/toasts.tsx'
import { noteDecided } from './drafts.ts'
import { UNCONFIRMED } from './use-decision.ts'

import type { ReviewDecisionBody } from '@tutti/protocol'
import type { ReviewLike } from './review-like.ts'

/** A review that was not decided, and why. */
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

/** Decides reviews one after another; what fails does not stop the others. */
export function useDecideMany(): DecidingMany {
  const { client } = useServer()
  const [isBusy, setBusy] = useState(false)
  const [failed, setFailed] = useState<readonly FailedDecision[]>([])
  const decide: DecidingMany['decide'] = async (reviews, decision) => {
    setBusy(true)
    const failures: FailedDecision[] = []
    for (const review of reviews) {
      // The event may come before the answer: what is on its way is taken for what closes the review.
      noteDecided(review.reviewId, 'me')
      try {
        await client.reviews.decide(review.reviewId, decision)
      } catch (error) {
        noteDecided(
          review.reviewId,
          UNCONFIRMED.has(failureCode(error) ?? '') ? 'unknown' : 'other',
        )
        failures.push({ review, error })
      }
    }
    const done = reviews.length - failures.length
    if (done > 0) toast(`${plural(done, 'review')}: ${DECISION[decision.decision].toLowerCase()}`)
    setFailed(failures)
    setBusy(false)
  }
  return { decide, isBusy, failed, dismissFailed: () => setFailed([]) }
}
