/** Lists runs. */
import { useMemo } from 'react'

import { useTuttiClient } from './client-context.ts'
import { createListStore, type ListView } from './list-store.ts'
import { useLiveStore } from './live-store.ts'

import type { ListRunsQuery, RunList } from '@tutti/protocol'

/** Returns a page of runs, newest first. It is read again whenever a run changes. */
export function useRuns(query: ListRunsQuery = {}): ListView<RunList> {
  const client = useTuttiClient()
  // An equal query of the next rendering is another object.
  const key = JSON.stringify(query)
  const store = useMemo(
    // NOTE: `key` is the JSON of a query.
    () =>
      createListStore(client, (signal) =>
        client.runs.list(JSON.parse(key) as ListRunsQuery, { signal }),
      ),
    [client, key],
  )
  return useLiveStore(store)
}
