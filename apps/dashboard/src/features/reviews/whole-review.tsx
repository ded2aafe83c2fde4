/** A review out of the server's list, which does not say what a tool would be given: the run's log does. */
import { useQuery } from '@tanstack/react-query'

import { failureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { Loading, Notice } from '../../ui/feedback/notice.tsx'
import { reviewOfEvent, type ReviewLike } from './review-like.ts'
import { ReviewPanel } from './review-panel.tsx'

import type { TuttiClient } from '@tutti/client'

/** The review with all that can be known of it. */
export function WholeReview({
  review,
  onDismiss,
}: {
  readonly review: ReviewLike
  readonly onDismiss: (reviewId: string) => void
}) {
  const { client } = useServer()
  const { data, error } = useQuery({
    queryKey: ['review', review.reviewId],
    queryFn: ({ signal }) => readReview(client, review, signal),
    enabled: review.detail === undefined,
  })
  if (review.detail !== undefined) return <ReviewPanel review={review} onDismiss={onDismiss} />
  if (data !== undefined) return <ReviewPanel review={data} onDismiss={onDismiss} />
  if (error === null) return <Loading label="Reading the review" />
  return (
    <Notice tone="failed" title="The review could not be read">
      {failureText(error)}
    </Notice>
  )
}

/** The event that opened it. */
async function readReview(
  client: TuttiClient,
  { runId, reviewId }: ReviewLike,
  signal: AbortSignal,
): Promise<ReviewLike> {
  const events = client.runs.events(runId, { from: 0, events: ['review_requested'], signal })
  for await (const event of events) {
    if (event.reviewId === reviewId) return reviewOfEvent(event)
  }
  throw new Error(`The log of run ${runId} does not have review ${reviewId}`)
}
