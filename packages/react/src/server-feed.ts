/**
 * One WebSocket per client, which notifies all hooks of changes.
 *
 * REACT-5 All readers of a client share one connection, which is open while there are readers. A reader learns the state of
 *    the connection at once, and each change of it.
 */
import { toError } from './to-error.ts'

import type { ConnectionState, LoggedRunEventOf, TuttiClient, TuttiConnection } from '@tutti/client'

/** Types of the events after which a list may have changed. */
export const NOTED_EVENTS = [
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

/** An event of any run after which a list of runs, reviews or threads may have changed. */
export type NotedEvent = LoggedRunEventOf<(typeof NOTED_EVENTS)[number]>

/** The connection over which a server reports changes. */
export interface ServerConnection {
  readonly status: 'connecting' | ConnectionState['status']
  /** Number of times that it opened again after a loss; events in between may have been missed. */
  readonly losses: number
  /** Time of the next attempt while reconnecting, in milliseconds since 1970. */
  readonly retryAt?: number
  /** Reason why it is closed for good. */
  readonly error?: Error
}

/** The state before the first attempt to connect. */
export const NOT_CONNECTED: ServerConnection = { status: 'connecting', losses: 0 }

/** Receives what a server reports. */
export interface FeedReader {
  /** Called with the current state of the connection, and after each change. */
  readonly onConnection?: (connection: ServerConnection) => void
  /** Called when the connection opens; events may have been missed before. */
  readonly onOpen?: () => void
  readonly onEvent?: (event: NotedEvent) => void
}

interface Feed {
  readonly readers: Set<FeedReader>
  readonly connection: TuttiConnection
  getState(): ServerConnection
}

const feeds = new WeakMap<TuttiClient, Feed>()

/**
 * Passes the events of all runs after which a list may have changed to a reader, until `signal` aborts. All
 * readers and hooks of one client share a connection.
 */
export function followServer(client: TuttiClient, signal: AbortSignal, reader: FeedReader): void {
  if (signal.aborted) return
  const feed = feeds.get(client) ?? openFeed(client)
  feed.readers.add(reader)
  reader.onConnection?.(feed.getState())
  signal.addEventListener('abort', () => {
    feed.readers.delete(reader)
    if (feed.readers.size > 0) return
    feeds.delete(client)
    void feed.connection.close()
  })
}

function openFeed(client: TuttiClient): Feed {
  const readers = new Set<FeedReader>()
  let state = NOT_CONNECTED
  let wasOpen = false
  const change = (next: ServerConnection): void => {
    state = next
    for (const { onConnection } of readers) onConnection?.(state)
  }
  const connection = client.connect({
    snapshot: 'none',
    onConnection(next) {
      const { status } = next
      const isOpen = status === 'open'
      change({
        status,
        losses: state.losses + (isOpen && wasOpen ? 1 : 0),
        ...(status === 'reconnecting' ? { retryAt: Date.now() + next.delayMs } : {}),
        ...(status === 'closed' && next.error !== undefined ? { error: toError(next.error) } : {}),
      })
      if (!isOpen) return
      wasOpen = true
      for (const { onOpen } of readers) onOpen?.()
    },
  })
  connection.subscribe({
    events: NOTED_EVENTS,
    onEvent(event) {
      for (const { onEvent } of readers) onEvent?.(event)
    },
    onEnd(error) {
      // A connection without a subscription delivers nothing.
      if (error !== undefined) change({ ...state, status: 'closed', error: toError(error) })
    },
  })
  const feed = { readers, connection, getState: () => state }
  feeds.set(client, feed)
  return feed
}
