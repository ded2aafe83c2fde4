/**
 * State of a thread: its runs, with the newest one followed until it ends.
 *
 * REACT-4 The runs are those of the server, oldest first. While the newest run has not ended, its text and its status are
 *    those of its events so far.
 */
import { isTerminalRunStatus, toRunMessages, type RunState } from '@tutti/protocol'
import type { ThreadRun, ThreadRunList } from '@tutti/protocol/internal'

import { applyEvents, NOT_FOLLOWED, type LiveRun } from './follow-events.ts'
import { createLiveStore, type LiveStore, type OpenStore } from './live-store.ts'
import { createRefresher } from './refresher.ts'
import { followServer } from './server-feed.ts'
import { toError } from './to-error.ts'

import type { TuttiClient } from '@tutti/client'

export interface LiveThreadRun extends ThreadRun {
  /** State of the run while it is followed. */
  readonly state?: RunState
}

/** The part of a thread that was read. */
export interface ThreadState {
  /** The newest runs, oldest first. */
  readonly runs: readonly LiveThreadRun[]
  /** Whether the thread has older runs. */
  readonly hasMore: boolean
  /** Whether the thread has not been read yet. */
  readonly isLoading: boolean
  /** Reason why the thread could not be read or its newest run not be followed. */
  readonly error?: Error
}

const EMPTY: ThreadState = { runs: [], hasMore: false, isLoading: true }

/** Number of runs that are read. */
const DEFAULT_LIMIT = 50

export function createThreadStore(
  client: TuttiClient,
  threadId: string,
  limit: number = DEFAULT_LIMIT,
): LiveStore<ThreadState> {
  return createLiveStore<ThreadState>(EMPTY, (store) => {
    const { signal, update } = store
    let followed: string | undefined
    const refresh = createRefresher(async () => {
      try {
        const page = await client.threads.runs(threadId, { limit }, { signal })
        update((view) => showPage(view, page))
        const [newest] = page.runs
        if (newest === undefined || isTerminalRunStatus(newest.status)) return
        if (followed === newest.runId) return
        followed = newest.runId
        void followNewest(client, store, newest.runId).finally(refresh)
      } catch (thrown) {
        update((view) => ({ ...view, isLoading: false, error: toError(thrown) }))
      }
    }, signal)
    followServer(client, signal, {
      onOpen: refresh,
      onEvent(event) {
        if (event.type === 'run_queued' && event.threadId === threadId) refresh()
      },
    })
    refresh()
    return refresh
  })
}

/** Merges a page. The followed run keeps the state built from its events. */
function showPage({ runs: before }: ThreadState, page: ThreadRunList): ThreadState {
  const known = new Map(before.map((run) => [run.runId, run]))
  const runs = page.runs.toReversed().map((run): LiveThreadRun => {
    const shown = known.get(run.runId)
    return shown?.state === undefined || isTerminalRunStatus(run.status) ? run : shown
  })
  return { runs, hasMore: page.nextCursor !== undefined, isLoading: false }
}

async function followNewest(
  client: TuttiClient,
  { signal, update }: OpenStore<ThreadState>,
  runId: string,
): Promise<void> {
  let run: LiveRun = NOT_FOLLOWED
  await applyEvents(client, {
    runId,
    signal,
    get: () => run,
    update(change) {
      update((view) => {
        run = change(run)
        return showRun(view, runId, run)
      })
    },
  })
}

function showRun(view: ThreadState, runId: string, { state, error }: LiveRun): ThreadState {
  const runs = view.runs.map((run) =>
    run.runId === runId ? { ...run, state, status: state.status, ...pickText(state) } : run,
  )
  return { ...view, runs, ...(error === undefined ? {} : { error }) }
}

function pickText(state: RunState): Pick<ThreadRun, 'assistantMessage'> {
  const { assistantMessage } = toRunMessages(state)
  return assistantMessage === undefined ? {} : { assistantMessage }
}
