/**
 * Follows one run and appends its events to a log, frame by frame. The client reconnects after a
 * loss and continues after the last event; no event is lost or delivered twice.
 */
import { useEffect, useState } from 'react'

import { createBatch } from '../lib/batch.ts'
import { createStore, type Readable } from '../lib/store.ts'
import { createRunLog, appendEvents, type FollowedLog } from './run-log.ts'
import { useServer } from './server.ts'

import type { ConnectionState, TuttiClient } from '@tutti/client'
import type { LoggedRunEvent } from '@tutti/protocol'

/** State of a feed. */
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
  const patch = (change: Partial<RunFeedState>): void => store.set({ ...store.get(), ...change })
  const batch = createBatch<LoggedRunEvent>((events) => {
    patch({ log: appendEvents(store.get().log, events) })
  })
  /**
   * Whether all events have arrived: closing the connection is then not a loss. The last events may
   * not be rendered yet.
   */
  let isOver = false
  const connection = client.connect({
    snapshot: 'none',
    onConnection: ({ status }) => {
      if (!isOver) patch({ connection: status })
    },
  })
  connection.subscribe({
    runId,
    from: 0,
    onEvent: (event) => batch.add(event),
    onEnd: (error) => {
      if (error === undefined) isOver = true
      else patch({ error })
      void connection.close()
    },
  })
  return {
    runId,
    get: store.get,
    follow: store.follow,
    close() {
      batch.stop()
      void connection.close()
    },
  }
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
