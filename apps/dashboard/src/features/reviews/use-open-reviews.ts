/** The reviews of all runs that wait: read once, then kept by what the server tells. */
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'

import { useServer, type Server } from '../../api/server.ts'
import { useStore } from '../../lib/store.ts'
import {
  openReviewsAfter,
  openReviewsFrom,
  withoutClosed,
  type OpenReviews,
} from './open-reviews.ts'

import type { ListEvent } from '../../api/server-feed.ts'

const KEY = ['open-reviews'] as const

/** The reviews that wait; whoever asks for them shares one answer. {@link useKeptReviews} keeps it true. */
export function useOpenReviews() {
  const server = useServer()
  const { status } = useStore(server.feed.connection)
  return useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => readReviews(server, signal),
    // What happens is told from when the connection is there: a list that was read before would miss some.
    enabled: status !== 'connecting',
  })
}

/** Keeps the answer true as long as the component is there; once in the page. */
export function useKeptReviews(): void {
  const { feed, answers } = useServer()
  const { losses } = useStore(feed.connection)
  useEffect(
    () =>
      feed.listen((events) => {
        answers.setQueryData<OpenReviews>(KEY, (known) => known && openReviewsAfter(known, events))
        const isNew = events.some(({ type }) => type === 'review_requested')
        // The list tells of the run of a new review, and whether this page may decide it.
        if (isNew) void answers.invalidateQueries({ queryKey: KEY })
      }),
    [feed, answers],
  )
  useEffect(() => {
    if (losses > 0) void answers.invalidateQueries({ queryKey: KEY })
  }, [losses, answers])
}

/** A function that lets go of closed reviews. */
export function useDismissClosed(): (reviewIds: readonly string[]) => void {
  const { answers } = useServer()
  return (reviewIds) => {
    answers.setQueryData<OpenReviews>(KEY, (known) => known && withoutClosed(known, reviewIds))
  }
}

/** The list, with what happened while it was on its way. */
async function readReviews(
  { client, feed, answers }: Server,
  signal: AbortSignal,
): Promise<OpenReviews> {
  const meanwhile: ListEvent[] = []
  const stop = feed.listen((events) => meanwhile.push(...events))
  try {
    const list = await client.reviews.list({}, { signal })
    const before = answers.getQueryData<OpenReviews>(KEY)
    return openReviewsAfter(openReviewsFrom(list, before), meanwhile)
  } finally {
    stop()
  }
}
