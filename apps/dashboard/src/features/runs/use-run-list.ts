/**
 * The lists of runs of a server. The list that is shown is read again when the server reports a change of any
 * run; one that is not shown is read again when it is.
 */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'

import { failureCode } from '../../api/failure.ts'
import { type Server, useServer } from '../../api/server.ts'
import { useStore } from '../../lib/store.ts'
import { listQuery, type RunFilter } from './run-filter.ts'
import {
  emptyRunList,
  matchingRuns,
  unansweredRuns,
  withDetails,
  withRuns,
  type ReadRuns,
  type RunListState,
  withoutPast,
} from './run-list.ts'

import type { RunDetail, RunSummary } from '@tutti/protocol'

const PAGE_SIZE = 100

/** The largest page that the server returns. */
const MAX_LIMIT = 1_000

/** Shortest time from a change to the read that shows it, in milliseconds. */
const REFRESH_MS = 400

/** The pause before a read is this many times as long as the read before it took. */
const PAUSE_FACTOR = 4

/** The server marks a run as waiting for a review, or as no longer waiting, a moment after the event. */
const MARKED_MS = 1_500

/** Runs that left the list are read one by one; more than this many at once are dropped instead. */
const MAX_SINGLE_READS = 50

/** The first part of the keys of all lists. */
export const RUN_LISTS_KEY = 'run-list'

/** The lists of a server. */
export interface RunLists {
  /** The query key of a list. */
  keyOf(filter: RunFilter): readonly unknown[]
  /** Reads a list from its start: as much of it as was read before. */
  read(filter: RunFilter, signal: AbortSignal): Promise<RunListState>
  /** Reads the next page of a list. */
  readMore(filter: RunFilter): Promise<void>
  /** Changes a list that was read. */
  change(filter: RunFilter, how: (state: RunListState) => RunListState): void
}

const opened = new WeakMap<Server, RunLists>()

/** Returns the lists of a server, which are refreshed from the first call on. */
export function runListsOf(server: Server): RunLists {
  const known = opened.get(server)
  if (known !== undefined) return known
  const lists = openRunLists(server)
  opened.set(server, lists)
  return lists
}

function openRunLists(server: Server): RunLists {
  const { answers, client } = server
  const changed = refreshOnChange(server)
  const keyOf = (filter: RunFilter) => [RUN_LISTS_KEY, filter]
  const stateOf = (filter: RunFilter): RunListState =>
    answers.getQueryData<RunListState>(keyOf(filter)) ?? emptyRunList(filter)
  const change: RunLists['change'] = (filter, how) => {
    answers.setQueryData<RunListState>(keyOf(filter), (state) => state && how(state))
  }
  return {
    keyOf,
    change,
    async read(filter, signal) {
      const due = new Set(changed)
      const answer = await readRuns(server, { filter, known: stateOf(filter).runs, signal })
      const details = await readDetails(server, unansweredRuns(stateOf(filter), answer, due))
      for (const runId of due) changed.delete(runId)
      return withRuns(withDetails(stateOf(filter), details), answer)
    },
    async readMore(filter) {
      // One known run ahead of the new ones shows that none between them is missing.
      const offset = Math.max(0, matchingRuns(stateOf(filter)).length - 1)
      const limit = PAGE_SIZE + 1
      const { runs, total } = await client.runs.list({ ...listQuery(filter), limit, offset })
      const isWhole = runs.length === 0 || offset + runs.length >= total
      const isKnown = stateOf(filter).runs.some(({ runId }) => runId === runs[0]?.runId)
      if (isKnown || isWhole) change(filter, (state) => withRuns(state, { runs, total, isWhole }))
      else await answers.refetchQueries({ queryKey: keyOf(filter) })
    },
  }
}

/** Reads the lists that are shown after changes; returns the ids of the runs that changed since. */
function refreshOnChange({ answers, feed }: Server): Set<string> {
  const changed = new Set<string>()
  const queryKey = [RUN_LISTS_KEY]
  let isDue = false
  let isRefreshing = false
  let pauseMs = REFRESH_MS
  const refresh = async (): Promise<void> => {
    isDue = true
    if (isRefreshing) return
    isRefreshing = true
    while (isDue) {
      await sleep(pauseMs)
      isDue = false
      const startedAt = Date.now()
      const refetchType = document.hidden ? 'none' : 'active'
      await answers.invalidateQueries({ queryKey, refetchType }, { cancelRefetch: false })
      if (answers.getQueryCache().findAll({ queryKey, type: 'active' }).length === 0)
        changed.clear()
      pauseMs = Math.max(REFRESH_MS, PAUSE_FACTOR * (Date.now() - startedAt))
    }
    isRefreshing = false
  }
  feed.listen((events) => {
    for (const { runId } of events) changed.add(runId)
    void refresh()
    if (events.some(({ type }) => type.startsWith('review_'))) {
      setTimeout(() => void refresh(), MARKED_MS)
    }
  })
  let { losses } = feed.connection.get()
  feed.connection.follow(() => {
    const now = feed.connection.get().losses
    if (now !== losses) void refresh()
    losses = now
  })
  return changed
}

/** Reads a list from its start: as many runs as are known, and on to the first known one. */
async function readRuns(
  { client }: Server,
  {
    filter,
    known,
    signal,
  }: {
    readonly filter: RunFilter
    readonly known: readonly RunSummary[]
    readonly signal: AbortSignal
  },
): Promise<ReadRuns> {
  const runs = new Map<string, RunSummary>()
  for (let offset = 0; ;) {
    const wanted = Math.max(1, known.length - offset)
    const limit = Math.min(MAX_LIMIT, Math.ceil(wanted / PAGE_SIZE) * PAGE_SIZE)
    const page = await client.runs.list({ ...listQuery(filter), limit, offset }, { signal })
    for (const run of page.runs) runs.set(run.runId, run)
    offset += page.runs.length
    const isWhole = page.runs.length === 0 || offset >= page.total
    const isConnected = known.length === 0 || known.some(({ runId }) => runs.has(runId))
    if (isWhole || (offset >= known.length && isConnected)) {
      return { runs: [...runs.values()], total: page.total, isWhole }
    }
  }
}

/** Reads runs one by one; undefined for those that the server does not have, and for too many. */
async function readDetails(
  { client }: Server,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, RunDetail | undefined>> {
  const read = async (runId: string, at: number) => {
    if (at >= MAX_SINGLE_READS) return [runId, undefined] as const
    try {
      return [runId, await client.runs.get(runId)] as const
    } catch (error) {
      if (failureCode(error) !== 'RUN_NOT_FOUND') throw error
      return [runId, undefined] as const
    }
  }
  return new Map(await Promise.all(runIds.map(read)))
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

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
