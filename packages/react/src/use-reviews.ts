/** Lists open reviews, and decides them. */
import { useCallback, useMemo } from 'react'

import { useTuttiClient } from './client-context.ts'
import { createListStore, type ListView } from './list-store.ts'
import { useLiveStore } from './live-store.ts'
import { catchError } from './to-error.ts'

import type { ReviewDecisionBody } from '@tutti/protocol'
import type { ReviewList } from '@tutti/protocol/internal'

/** Open reviews, and the function that decides one. */
export interface ReviewsView extends ListView<ReviewList> {
  /** Resolves when the decision is durable; returns the error of a decision that failed, such as REVIEW_RESOLVED. */
  decide(reviewId: string, decision: ReviewDecisionBody): Promise<Error | undefined>
}

/** Returns the open reviews of a run, or of all runs, oldest first. They are read again whenever a run changes. */
export function useReviews({ runId }: { readonly runId?: string } = {}): ReviewsView {
  const client = useTuttiClient()
  const store = useMemo(() => {
    const query = runId === undefined ? {} : { runId }
    return createListStore(client, (signal) => client.reviews.list(query, { signal }))
  }, [client, runId])
  const view = useLiveStore(store)
  const decide = useCallback(
    async (reviewId: string, decision: ReviewDecisionBody) => {
      const error = await catchError(() => client.reviews.decide(reviewId, decision))
      store.refresh()
      return error
    },
    [client, store],
  )
  return useMemo(() => ({ ...view, decide }), [view, decide])
}
