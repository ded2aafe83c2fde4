/** Follows a run. */
import { useMemo } from 'react'

import { useTuttiClient } from './client-context.ts'
import { followEvents, NOT_FOLLOWED, type FollowedRun } from './follow-events.ts'
import { createLiveStore, useLiveStore, type LiveStore } from './live-store.ts'

import type { TuttiClient } from '@tutti/client'

/**
 * Returns the state of a run, which changes with its events. The stream continues after a loss of the connection with
 * the event after the last one.
 */
export function useRun(runId: string): FollowedRun {
  const client = useTuttiClient()
  return useLiveStore(useMemo(() => createRunStore(client, runId), [client, runId]))
}

/** Creates the store of a run. */
export function createRunStore(client: TuttiClient, runId: string): LiveStore<FollowedRun> {
  return createLiveStore<FollowedRun>(NOT_FOLLOWED, ({ signal, get, update }) => {
    void followEvents(client, { runId, signal, get, update })
    return () => undefined
  })
}
