/** Follows a run. */
import { useMemo } from 'react'

import { useTuttiClient } from './client-context.ts'
import { applyEvents, NOT_FOLLOWED, type LiveRun } from './follow-events.ts'
import { createLiveStore, useLiveStore, type LiveStore } from './live-store.ts'

import type { TuttiClient } from '@tutti/client'

/**
 * Returns the state of a run, which changes with its events. The stream continues after a loss of the connection with
 * the event after the last one.
 */
export function useRun(runId: string): LiveRun {
  const client = useTuttiClient()
  return useLiveStore(useMemo(() => createRunStore(client, runId), [client, runId]))
}

export function createRunStore(client: TuttiClient, runId: string): LiveStore<LiveRun> {
  return createLiveStore<LiveRun>(NOT_FOLLOWED, ({ signal, get, update }) => {
    void applyEvents(client, { runId, signal, get, update })
    return () => undefined
  })
}
