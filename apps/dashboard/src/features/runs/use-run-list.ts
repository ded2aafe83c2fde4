/** The list of runs of a filter: read page by page, and kept by what the server tells. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'

import { runListsOf } from '../../api/run-list-keeper.ts'
import { tidied, type RunListState } from '../../api/run-list.ts'
import { useServer } from '../../api/server.ts'
import { useStore } from '../../lib/use-store.ts'

import type { RunFilter } from '../../api/run-list-filter.ts'

/** The list; until that of another filter is there, the one before is. */
export function useRunList(filter: RunFilter) {
  const server = useServer()
  const lists = runListsOf(server)
  const { status } = useStore(server.feed.connection)
  const { data, error, isPlaceholderData, isFetching, refetch } = useQuery<RunListState>({
    queryKey: lists.keyOf(filter),
    queryFn: ({ signal }) => lists.read(filter, signal),
    // What happens is told from when the connection is there: a list that was read before would miss some.
    enabled: status !== 'connecting',
    placeholderData: keepPreviousData,
    // A list shares what has not changed by itself.
    structuralSharing: false,
  })
  const more = useMutation({ mutationFn: () => lists.readMore(filter) })
  const { mutate, isPending, isError } = more
  const canRead = data?.isWhole === false && !isPlaceholderData && !isFetching
  const readMore = useCallback(() => {
    if (canRead && !isPending && !isError) mutate()
  }, [canRead, isPending, isError, mutate])
  // What no longer fits stays for as long as somebody looks at the list.
  useEffect(() => () => lists.change(filter, tidied), [lists, filter])
  return {
    list: data,
    error,
    isOfOtherFilter: isPlaceholderData,
    isFetching,
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
