/**
 * The events of all runs that lists and counters depend on, over one connection for the page. Other events
 * are not subscribed to, so that a busy server does not keep the page busy.
 */
import { batched } from '../lib/batch.ts'
import { createStore, type Readable } from '../lib/store.ts'

import type { ConnectionState, LoggedRunEventOf, TuttiClient } from '@tutti/client'

/** Types of events that change what a list shows. */
export const LIST_EVENTS = [
  'run_queued',
  'ensemble_started',
  'run_resumed',
  'run_cancelling',
  'task_started',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
  'delegation_started',
  'metrics_snapshot',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_withdrawn',
  'ensemble_completed',
  'run_result',
] as const

/** An event that changes what a list shows. */
export type ListEvent = LoggedRunEventOf<(typeof LIST_EVENTS)[number]>

export interface FeedConnection {
  readonly status: ConnectionState['status'] | 'connecting'
  /** Grows each time the connection is there again after a loss: what was read before may be old. */
  readonly losses: number
  /** When the next try follows, in milliseconds since 1970; while it comes back. */
  readonly retryAt?: number
  /** Why it is closed for good. */
  readonly error?: unknown
}

/** The events of all runs. */
export interface ServerFeed {
  readonly connection: Readable<FeedConnection>
  /** Gives the events of each frame to `reader`, until the function it gives is called. */
  listen(reader: (events: readonly ListEvent[]) => void): () => void
  close(): void
}

/** Begins to follow all runs. */
export function openServerFeed(client: TuttiClient): ServerFeed {
  const state = createStore<FeedConnection>({ status: 'connecting', losses: 0 })
  const readers = new Set<(events: readonly ListEvent[]) => void>()
  const batch = batched<ListEvent>((events) => {
    for (const reader of readers) reader(events)
  })
  let wasOpen = false
  const connection = client.connect({
    snapshot: 'none',
    onConnection: (told) => {
      const { status } = told
      const { losses } = state.get()
      const isBack = status === 'open' && wasOpen
      if (status === 'open') wasOpen = true
      state.set({
        status,
        losses: isBack ? losses + 1 : losses,
        ...(status === 'reconnecting' ? { retryAt: Date.now() + told.delayMs } : {}),
        ...(status === 'closed' ? { error: told.error } : {}),
      })
    },
  })
  connection.subscribe({
    events: LIST_EVENTS,
    onEvent: (event) => batch.add(event),
    onEnd: (error) => {
      // A connection that brings nothing is none.
      if (error !== undefined) state.set({ ...state.get(), status: 'closed', error })
    },
  })
  return {
    connection: state,
    listen(reader) {
      readers.add(reader)
      return () => readers.delete(reader)
    },
    close() {
      batch.stop()
      void connection.close()
    },
  }
}
