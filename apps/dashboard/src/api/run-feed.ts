/**
 * Follows one run: its events go into a log, frame by frame. It comes back by itself after a loss, and goes
 * on after the last event that it has; the client sees to it that none is missed and none comes twice.
 */
import { useEffect, useState } from 'react'

import { batched } from '../lib/batch.ts'
import { createStore, type Readable } from '../lib/store.ts'
import { emptyRunLog, withEvents, type FollowedLog } from './run-log.ts'
import { useServer } from './server.ts'

import type { ConnectionState, TuttiClient } from '@tutti/client'
import type { LoggedRunEvent } from '@tutti/protocol'

/** What is known of a run that is followed. */
export interface RunFeedState {
  readonly log: FollowedLog
  readonly connection: ConnectionState['status'] | 'connecting'
  /** Why it cannot be followed, such as RUN_NOT_FOUND. */
  readonly error?: unknown
}

/** A run that is followed. */
export interface RunFeed extends Readable<RunFeedState> {
  readonly runId: string
  close(): void
}

/** Begins to follow a run, from its first event. */
export function openRunFeed(client: TuttiClient, runId: string): RunFeed {
  const store = createStore<RunFeedState>({
    log: emptyRunLog(),
    connection: 'connecting',
  })
  const patch = (change: Partial<RunFeedState>): void => store.set({ ...store.get(), ...change })
  const batch = batched<LoggedRunEvent>((events) => {
    patch({ log: withEvents(store.get().log, events) })
  })
  /** Nothing more is to come: that the connection ends is no loss. Its last events may not be drawn yet. */
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

/** The feed of a run; undefined until it has begun. */
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
