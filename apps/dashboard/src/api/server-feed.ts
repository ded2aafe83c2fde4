/** Passes the events of all runs that lists and counters depend on to the page, frame by frame. */
import { followServer, type NotedEvent } from '@tutti/react/internal'

import { createBatch } from '../lib/batch.ts'

import type { TuttiClient } from '@tutti/client'

/** The events of all runs, over the connection that the hooks of the page share. */
export interface ServerFeed {
  /** Passes the events of each frame to `reader`; returns a function that stops this. */
  listen(reader: (events: readonly NotedEvent[]) => void): () => void
}

/** Follows all runs until `signal` aborts. */
export function openServerFeed(client: TuttiClient, signal: AbortSignal): ServerFeed {
  const readers = new Set<(events: readonly NotedEvent[]) => void>()
  const batch = createBatch<NotedEvent>((events) => {
    for (const reader of readers) reader(events)
  })
  followServer(client, signal, { onEvent: batch.add })
  signal.addEventListener('abort', batch.stop)
  return {
    listen(reader) {
      readers.add(reader)
      return () => readers.delete(reader)
    },
  }
}
