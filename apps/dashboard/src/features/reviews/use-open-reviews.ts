/** The open reviews of all runs: loaded once, then updated by events. */
import { useQuery } from '@tanstack/react-query'
import { useServerConnection, type NotedEvent } from '@tutti/react/internal'
import { useEffect } from 'react'

import { useServer, type Server } from '../../api/server.ts'
import { applyListEvents, toOpenReviews, dropClosed, type OpenReviews } from './open-reviews.ts'

const KEY = ['open-reviews'] as const

/**
 * Returns the open reviews; all callers share one query. {@link useReviewUpdates} keeps it up to
 * date.
 */
export function useOpenReviews() {
  const server = useServer()
  const { status } = useServerConnection()
  return useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => readReviews(server, signal),
    // Events arrive only while connected, so a list loaded earlier would miss some.
    enabled: status !== 'connecting',
  })
}

/** Keeps the query up to date. Use it once per page. */
export function useReviewUpdates(): void {
  const { feed, answers } = useServer()
  const { losses } = useServerConnection()
  useEffect(
    () =>
      feed.listen((events) => {
        answers.setQueryData<OpenReviews>(KEY, (known) => known && applyListEvents(known, events))
        const isNew = events.some(({ type }) => type === 'review_requested')
        // Only the list has the run of a new review and whether this page may decide it.
        if (isNew) void answers.invalidateQueries({ queryKey: KEY })
      }),
    [feed, answers],
  )
  useEffect(() => {
    if (losses > 0) void answers.invalidateQueries({ queryKey: KEY })
  }, [losses, answers])
}

/** Returns a function that drops closed reviews. */
export function useDismissClosed(): (reviewIds: readonly string[]) => void {
  const { answers } = useServer()
  return (reviewIds) => {
    answers.setQueryData<OpenReviews>(KEY, (known) => known && dropClosed(known, reviewIds))
  }
}

/** Loads the list and applies the events that arrived meanwhile. */
async function readReviews(
  { client, feed, answers }: Server,
  signal: AbortSignal,
): Promise<OpenReviews> {
  const meanwhile: NotedEvent[] = []
  const stop = feed.listen((events) => meanwhile.push(...events))
  try {
    const list = await client.reviews.list({}, { signal })
    const before = answers.getQueryData<OpenReviews>(KEY)
    return applyListEvents(toOpenReviews(list, before), meanwhile)
  } finally {
    stop()
  }
}
