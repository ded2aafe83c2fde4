/**
 * Follows one run: first its stored events, then live ones, which are appended to its log frame by
 * frame. The client reconnects after a loss and continues after the last event; no event is lost or
 * delivered twice.
 */
import { useEffect, useState } from 'react'

import { createBatch } from '../lib/batch.ts'
import { createStore, type Readable } from '../lib/store.ts'
import { createRunLog, appendEvents, type FollowedLog } from './run-log.ts'
import { useServer } from './server.ts'
import { readStoredEvents } from './stored-events.ts'

import type { ConnectionState, TuttiClient } from '@tutti/client'
import type { LoggedRunEvent } from '@tutti/protocol'

export interface RunFeedState {
  readonly log: FollowedLog
  readonly connection: ConnectionState['status'] | 'connecting'
  /** Error that ended the feed, such as RUN_NOT_FOUND. */
  readonly error?: unknown
}

/** A live feed of a run. */
export interface RunFeed extends Readable<RunFeedState> {
  readonly runId: string
  close(): void
}

/** Starts following a run from its first event. */
export function openRunFeed(client: TuttiClient, runId: string): RunFeed {
  const store = createStore<RunFeedState>({
    log: createRunLog(),
    connection: 'connecting',
  })
  const leaving = new AbortController()
  const { signal } = leaving
  const patch = (change: Partial<RunFeedState>): void => {
    if (!signal.aborted) store.set({ ...store.get(), ...change })
  }
  const parts = { client, runId, signal, patch, getLog: () => store.get().log }
  followFromStart(parts).catch((error: unknown) => {
    patch({ error })
  })
  return {
    runId,
    get: store.get,
    follow: store.follow,
    close: () => leaving.abort(),
  }
}

interface FeedParts {
  readonly client: TuttiClient
  readonly runId: string
  /** Aborts when the feed is closed. */
  readonly signal: AbortSignal
  readonly patch: (change: Partial<RunFeedState>) => void
  readonly getLog: () => FollowedLog
}

async function followFromStart(parts: FeedParts): Promise<void> {
  const { client, runId, signal, patch } = parts
  const log = await readStoredEvents(client, runId, {
    signal,
    // The stream closes after the stored events, which is not a loss.
    onConnection: ({ status }) => {
      if (status !== 'closed') patch({ connection: status })
    },
    onProgress: (log) => patch({ log }),
  })
  patch({ log })
  const isComplete = log.events.at(-1)?.type === 'run_result'
  if (!isComplete && !signal.aborted) followLive(parts)
}

/** Follows a run from the first event that its log does not have. */
function followLive({ client, runId, signal, patch, getLog }: FeedParts): void {
  const batch = createBatch<LoggedRunEvent>((events) => {
    patch({ log: appendEvents(getLog(), events) })
  })
  /**
   * Whether all events have arrived: closing the connection is then not a loss. The last events may
   * not be rendered yet.
   */
  let isOver = false
  const connection = client.connect({
    snapshot: 'none',
    signal,
    onConnection: ({ status }) => {
      if (!isOver) patch({ connection: status })
    },
  })
  connection.subscribe({
    runId,
    from: getLog().events.length,
    onEvent: (event) => batch.add(event),
    onEnd: (error) => {
      if (error === undefined) isOver = true
      else patch({ error })
      void connection.close()
    },
  })
  signal.addEventListener('abort', () => batch.stop())
}

/** Returns the feed of a run; undefined until it is open. */
export function useRunFeed(runId: string): RunFeed | undefined {
  const { client } = useServer()
  const [feed, setFeed] = useState<RunFeed>()
  useEffect(() => {
    const opened = openRunFeed(client, runId)
    setFeed(opened)
    return () => {
      opened.close()
      setFeed(undefined)
    }
  }, [client, runId])
  return feed?.runId === runId ? feed : undefined
}
