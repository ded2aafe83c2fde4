/** One WebSocket per client, which notifies all hooks of changes. */
import type { LoggedRunEventOf, TuttiClient, TuttiConnection } from '@tutti/client'

/** Types of the events after which a list may have changed. */
export const NOTED_EVENTS = [
  'run_queued',
  'ensemble_started',
  'task_completed',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_withdrawn',
  'run_cancelling',
  'run_result',
] as const

/** An event after which a list may have changed. */
export type NotedEvent = LoggedRunEventOf<(typeof NOTED_EVENTS)[number]>

export interface FeedReader {
  /** Called when the connection opens; events may have been missed before. */
  readonly onOpen: () => void
  readonly onEvent: (event: NotedEvent) => void
}

interface Feed {
  readonly readers: Set<FeedReader>
  readonly connection: TuttiConnection
}

const feeds = new WeakMap<TuttiClient, Feed>()

/** Notifies a reader until `signal` aborts. The connection is open while there are readers. */
export function readServerFeed(client: TuttiClient, signal: AbortSignal, reader: FeedReader): void {
  const feed = feeds.get(client) ?? openFeed(client)
  feed.readers.add(reader)
  signal.addEventListener('abort', () => {
    feed.readers.delete(reader)
    if (feed.readers.size > 0) return
    feeds.delete(client)
    void feed.connection.close()
  })
}

function openFeed(client: TuttiClient): Feed {
  const readers = new Set<FeedReader>()
  const connection = client.connect({
    snapshot: 'none',
    onConnection({ status }) {
      if (status !== 'open') return
      for (const { onOpen } of readers) onOpen()
    },
  })
  connection.subscribe({
    events: NOTED_EVENTS,
    onEvent(event) {
      for (const { onEvent } of readers) onEvent(event)
    },
  })
  const feed = { readers, connection }
  feeds.set(client, feed)
  return feed
}
