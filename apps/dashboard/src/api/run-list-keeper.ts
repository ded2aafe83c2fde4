/**
 * The lists of runs of the page: each filter is read once, page by page, and kept by the events of the
 * server for as long as it is remembered, also while another page is shown. What the events leave open of a
 * run is asked of the server once, and after a loss of the connection the lists are read again.
 */
import { hashKey } from '@tanstack/react-query'

import { failureCode } from './failure.ts'
import { listQuery, type RunFilter } from './run-list-filter.ts'
import {
  listAfter,
  listOf,
  withCandidates,
  withDetail,
  withPage,
  type RunListState,
} from './run-list.ts'

import type { ListEvent } from './server-feed.ts'
import type { Server } from './server.ts'
import type { RunDetail } from '@tutti/protocol'

/** Runs of a page. */
const PAGE_SIZE = 100

/** The most that the server gives at once. */
const MAX_LIMIT = 1_000

const KEY = 'run-list'

type Change = (state: RunListState) => RunListState

/** What the lists of a server can be asked for. */
export interface RunLists {
  /** The key of a list among the answers. */
  keyOf(filter: RunFilter): readonly unknown[]
  /** Reads a list from its start: as much of it as there was before. */
  read(filter: RunFilter, signal: AbortSignal): Promise<RunListState>
  /** Reads the next page of a list; who asks while it is on its way waits for the same one. */
  readMore(filter: RunFilter): Promise<void>
  /** Changes a list, if it is there. */
  change(filter: RunFilter, how: Change): void
}

const kept = new WeakMap<Server, RunLists>()

/** The lists of a server; made when they are first asked for. */
export function runListsOf(server: Server): RunLists {
  const known = kept.get(server)
  if (known !== undefined) return known
  keepTrue(server)
  const made = listsOf(server)
  kept.set(server, made)
  return made
}

function listsOf(server: Server): RunLists {
  const { answers, client } = server
  const keyOf = (filter: RunFilter): readonly unknown[] => [KEY, filter]
  const get = (filter: RunFilter) => answers.getQueryData<RunListState>(keyOf(filter))
  const change = (filter: RunFilter, how: Change): void => {
    answers.setQueryData<RunListState>(keyOf(filter), (state) => state && how(state))
  }
  const onTheWay = new Map<string, Promise<void>>()
  const readNext = async (filter: RunFilter): Promise<void> => {
    const before = get(filter)
    if (before === undefined || before.isWhole) return
    const { nextOffset: offset } = before
    const query = { ...listQuery(filter), limit: PAGE_SIZE, offset }
    const { page, meanwhile } = await withEvents(server, () => client.runs.list(query))
    change(filter, (state) => withPage(state, { page, offset, meanwhile }))
  }
  return {
    keyOf,
    change,
    async read(filter, signal) {
      const before = get(filter)
      const wanted = Math.max(PAGE_SIZE, before?.lines.length ?? 0)
      const limit = Math.min(MAX_LIMIT, Math.ceil(wanted / PAGE_SIZE) * PAGE_SIZE)
      const query = { ...listQuery(filter), limit }
      const [{ page, meanwhile }, asked] = await Promise.all([
        withEvents(server, () => client.runs.list(query, { signal })),
        filter.group === 'review' ? client.reviews.list({}, { signal }) : undefined,
      ])
      const state = listOf(filter, { page, offset: 0, meanwhile }, before)
      // The server finds a run that waits for a person when it has waited for a moment.
      return withCandidates(state, asked?.reviews.map(({ runId }) => runId) ?? [])
    },
    readMore(filter) {
      const key = hashKey(keyOf(filter))
      const known = onTheWay.get(key)
      if (known !== undefined) return known
      const page = readNext(filter).finally(() => onTheWay.delete(key))
      onTheWay.set(key, page)
      return page
    },
  }
}

/** A page, with what was told while it was on its way. */
async function withEvents<T>({ feed }: Server, ask: () => Promise<T>) {
  const meanwhile: ListEvent[] = []
  const stop = feed.listen((events) => meanwhile.push(...events))
  try {
    return { page: await ask(), meanwhile }
  } finally {
    stop()
  }
}

/** Keeps every list that is remembered true. */
function keepTrue(server: Server): void {
  const { answers, feed } = server
  const changeAll = (how: Change): void => {
    answers.setQueriesData<RunListState>({ queryKey: [KEY] }, (state) => state && how(state))
  }
  feed.listen((events) => changeAll((state) => listAfter(state, events)))
  const reading = new Set<string>()
  let { losses } = feed.connection.get()
  feed.connection.follow(() => {
    const now = feed.connection.get().losses
    if (now === losses) return
    losses = now
    // What could not be read may be there again.
    reading.clear()
    void answers.invalidateQueries({ queryKey: [KEY] })
  })
  const read = async (runId: string): Promise<void> => {
    try {
      const detail = await readRun(server, runId)
      reading.delete(runId)
      changeAll((state) => withDetail(state, runId, detail))
    } catch (failure) {
      // It stays among those that are read until the connection was lost: a server that fails to answer is
      // not asked again and again.
      changeAll((state) => (state.unclear.has(runId) ? { ...state, failure } : state))
    }
  }
  answers.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] !== KEY) return
    // NOTE: what is under this key was put there by `read` and `change` alone.
    const state = query.state.data as RunListState | undefined
    for (const runId of state?.unclear.keys() ?? []) {
      if (reading.has(runId)) continue
      reading.add(runId)
      void read(runId)
    }
  })
}

/** A run; undefined when there is none of that id. */
async function readRun({ client }: Server, runId: string): Promise<RunDetail | undefined> {
  try {
    return await client.runs.get(runId)
  } catch (error) {
    if (failureCode(error) === 'RUN_NOT_FOUND') return undefined
    throw error
  }
}
