/**
 * Receives the events of all runs that lists and counters depend on, over one connection per page.
 * Other events are not subscribed to, to keep the load of a busy server off the page.
 */
import { createBatch } from '../lib/batch.ts'
import { createStore, type Readable } from '../lib/store.ts'

import type { ConnectionState, LoggedRunEventOf, TuttiClient } from '@tutti/client'

/** Types of events that change a list. */
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

/** An event that changes a list. */
export type ListEvent = LoggedRunEventOf<(typeof LIST_EVENTS)[number]>

export interface FeedConnection {
  readonly status: ConnectionState['status'] | 'connecting'
  /** Number of reconnects after a loss; data read before may be stale. */
  readonly losses: number
  /** Time of the next attempt while reconnecting, in milliseconds since 1970. */
  readonly retryAt?: number
  /** Reason why the connection is closed for good. */
  readonly error?: unknown
}

/** A live feed of all runs. */
export interface ServerFeed {
  readonly connection: Readable<FeedConnection>
  /** Passes the events of each frame to `reader`; returns a function that stops this. */
  listen(reader: (events: readonly ListEvent[]) => void): () => void
  close(): void
}

/** Starts following all runs. */
export function openServerFeed(client: TuttiClient): ServerFeed {
  const state = createStore<FeedConnection>({ status: 'connecting', losses: 0 })
  const readers = new Set<(events: readonly ListEvent[]) => void>()
  const batch = createBatch<ListEvent>((events) => {
    for (const reader of readers) reader(events)
  })
  let wasOpen = false
  const connection = client.connect({
    snapshot: 'none',
    onConnection: (next) => {
      const { status } = next
      const { losses } = state.get()
      const isBack = status === 'open' && wasOpen
      if (status === 'open') wasOpen = true
      state.set({
        status,
        losses: isBack ? losses + 1 : losses,
        ...(status === 'reconnecting' ? { retryAt: Date.now() + next.delayMs } : {}),
        ...(status === 'closed' ? { error: next.error } : {}),
      })
    },
  })
  connection.subscribe({
    events: LIST_EVENTS,
    onEvent: (event) => batch.add(event),
    onEnd: (error) => {
      // A connection without a subscription delivers nothing.
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
