/** Lists threads. */
import { useMemo } from 'react'

import { useTuttiClient } from './client-context.ts'
import { createListStore, type ListView } from './list-store.ts'
import { useLiveStore } from './live-store.ts'

import type { ThreadList } from '@tutti/protocol/internal'

/** Settings of {@link useThreads}. */
export interface ThreadsSettings {
  /** Maximum number of threads, up to 1000. @default 100 */
  readonly limit?: number
  /** `key`, or `key:value`. */
  readonly tag?: string
}

/** A list of threads. */
export interface ThreadsView extends ListView<ThreadList> {
  /** Reads the list again, such as after the creation of a thread. */
  refresh(): void
}

/** Returns the threads with the newest submissions. They are read again whenever a run changes. */
export function useThreads({ limit, tag }: ThreadsSettings = {}): ThreadsView {
  const client = useTuttiClient()
  const store = useMemo(() => {
    const query = {
      ...(limit === undefined ? {} : { limit }),
      ...(tag === undefined ? {} : { tag }),
    }
    return createListStore(client, (signal) => client.threads.list(query, { signal }))
  }, [client, limit, tag])
  const view = useLiveStore(store)
  return useMemo(() => ({ ...view, refresh: store.refresh }), [view, store])
}
