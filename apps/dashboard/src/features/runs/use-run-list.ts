/**
 * The lists of runs of a server. A list in view is loaded again when the server reports a change of
 * a run; other lists are loaded again when they come into view.
 */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { followServer, useServerConnection } from '@tutti/react/internal'
import { useCallback, useEffect } from 'react'

import { findFailureCode } from '../../api/failure.ts'
import { type Server, useServer } from '../../api/server.ts'
import { toListQuery, type RunFilter } from './run-filter.ts'
import {
  createRunList,
  findUnansweredRuns,
  replaceRuns,
  mergeRuns,
  type ReadRuns,
  type RunListState,
  dropPast,
} from './run-list.ts'

import type { RunDetail, RunSummary } from '@tutti/protocol'

const PAGE_SIZE = 100

/** Maximum page size of the server. */
const MAX_LIMIT = 1_000

/** Minimum time from a change to the request that loads it, in milliseconds. */
const REFRESH_MS = 400

/** Pause before a request, as a multiple of the previous request's duration. */
const PAUSE_FACTOR = 4

/**
 * Delay, in milliseconds, after which the server has updated the status of a run for a review
 * event.
 */
const MARKED_MS = 1_500

/** Maximum number of runs loaded one by one after they left the list; the rest are dropped. */
const MAX_SINGLE_READS = 50

/** First part of the query keys of all lists. */
export const RUN_LISTS_KEY = 'run-list'

/** The lists of runs of a server. */
export interface RunLists {
  /** Returns the query key of a list. */
  keyOf(filter: RunFilter): readonly unknown[]
  /** Loads a list from its start, up to the number of runs loaded before. */
  read(filter: RunFilter, signal: AbortSignal): Promise<RunListState>
  /** Loads the next page of a list. */
  readMore(filter: RunFilter): Promise<void>
  /** Changes a loaded list. */
  change(filter: RunFilter, how: (state: RunListState) => RunListState): void
}

const opened = new WeakMap<Server, RunLists>()

/** Returns the lists of a server. They are refreshed from the first call on. */
export function getRunLists(server: Server): RunLists {
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
    answers.getQueryData<RunListState>(keyOf(filter)) ?? createRunList(filter)
  const change: RunLists['change'] = (filter, how) => {
    answers.setQueryData<RunListState>(keyOf(filter), (state) => state && how(state))
  }
  return {
    keyOf,
    change,
    async read(filter, signal) {
      const due = new Set(changed)
      const answer = await readRuns(server, { filter, known: stateOf(filter).runs, signal })
      const details = await readDetails(server, findUnansweredRuns(stateOf(filter), answer, due))
      for (const runId of due) changed.delete(runId)
      return mergeRuns(replaceRuns(stateOf(filter), details), answer)
    },
    async readMore(filter) {
      const { nextCursor: cursor } = stateOf(filter)
      if (cursor === undefined) return
      const page = await client.runs.list({ ...toListQuery(filter), limit: PAGE_SIZE, cursor })
      change(filter, (state) => mergeRuns(state, { ...page, isContinued: true }))
    },
  }
}

/**
 * Reloads the active lists after changes. Returns the ids of the runs that changed since the last
 * load.
 */
function refreshOnChange({ answers, client, feed, signal }: Server): Set<string> {
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
  let before = 0
  followServer(client, signal, {
    onConnection({ losses }) {
      if (losses !== before) void refresh()
      before = losses
    },
  })
  return changed
}

/**
 * Loads a list from its start: as many runs as are known, and at least up to the first known one.
 */
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
  for (let cursor: string | undefined; ;) {
    const wanted = Math.max(1, known.length - runs.size)
    const limit = Math.min(MAX_LIMIT, Math.ceil(wanted / PAGE_SIZE) * PAGE_SIZE)
    const query = { ...toListQuery(filter), limit, ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.runs.list(query, { signal })
    for (const run of page.runs) runs.set(run.runId, run)
    cursor = page.nextCursor
    const isConnected = known.length === 0 || known.some(({ runId }) => runs.has(runId))
    if (cursor === undefined || (runs.size >= known.length && isConnected)) {
      return { ...page, runs: [...runs.values()], isContinued: false }
    }
  }
}

/** Loads runs one by one; undefined for runs that do not exist, and beyond the maximum number. */
async function readDetails(
  { client }: Server,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, RunDetail | undefined>> {
  const read = async (runId: string, at: number) => {
    if (at >= MAX_SINGLE_READS) return [runId, undefined] as const
    try {
      return [runId, await client.runs.get(runId)] as const
    } catch (error) {
      if (findFailureCode(error) !== 'RUN_NOT_FOUND') throw error
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

/** Returns the list of a filter; until it is loaded, the previous list. */
export function useRunList(filter: RunFilter) {
  const server = useServer()
  const lists = getRunLists(server)
  const { status } = useServerConnection()
  const { data, error, isPlaceholderData, isFetching, refetch } = useQuery<RunListState>({
    queryKey: lists.keyOf(filter),
    queryFn: ({ signal }) => lists.read(filter, signal),
    // Events arrive only while connected, so a list loaded earlier would miss some.
    enabled: status !== 'connecting',
    placeholderData: keepPreviousData,
    // Hidden pages do not refresh.
    refetchOnWindowFocus: true,
    // `mergeRuns` already shares unchanged runs.
    structuralSharing: false,
  })
  const more = useMutation({ mutationFn: () => lists.readMore(filter) })
  const { mutate, isPending, isError } = more
  const canRead = data?.isWhole === false && !isPlaceholderData && !isFetching
  const readMore = useCallback(() => {
    if (canRead && !isPending && !isError) mutate()
  }, [canRead, isPending, isError, mutate])
  useEffect(() => () => lists.change(filter, dropPast), [lists, filter])
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
