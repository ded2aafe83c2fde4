/** The list of runs of a filter, read page by page. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'

import { useServer } from '../../api/server.ts'
import { useStore } from '../../lib/store.ts'
import { runListsOf } from './refresh-run-lists.ts'
import { withoutPast, type RunListState } from './run-list.ts'

import type { RunFilter } from './run-filter.ts'

/** Returns the list; until that of another filter was read, the one before is kept. */
export function useRunList(filter: RunFilter) {
  const server = useServer()
  const lists = runListsOf(server)
  const { status } = useStore(server.feed.connection)
  const { data, error, isPlaceholderData, isFetching, refetch } = useQuery<RunListState>({
    queryKey: lists.keyOf(filter),
    queryFn: ({ signal }) => lists.read(filter, signal),
    // Changes are reported once the connection is open: a list that was read before would miss some.
    enabled: status !== 'connecting',
    placeholderData: keepPreviousData,
    // A page that was hidden does not refresh.
    refetchOnWindowFocus: true,
    // `withRuns` shares what has not changed.
    structuralSharing: false,
  })
  const more = useMutation({ mutationFn: () => lists.readMore(filter) })
  const { mutate, isPending, isError } = more
  const canRead = data?.isWhole === false && !isPlaceholderData && !isFetching
  const readMore = useCallback(() => {
    if (canRead && !isPending && !isError) mutate()
  }, [canRead, isPending, isError, mutate])
  useEffect(() => () => lists.change(filter, withoutPast), [lists, filter])
  return {
    list: data,
    error,
    isOfOtherFilter: isPlaceholderData,
    refetch,
    readMore,
    moreError: more.error,
    tryMore: mutate,
    change: useCallback(
      (how: (state: RunListState) => RunListState) => lists.change(filter, how),
      [lists, filter],
    ),
  }
}
