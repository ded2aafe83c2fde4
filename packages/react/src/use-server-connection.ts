/** Reports the connection to the server. */
import { useMemo } from 'react'

import { useTuttiClient } from './client-context.ts'
import { createLiveStore, useLiveStore, type LiveStore } from './live-store.ts'
import { followServer, NOT_CONNECTED, type ServerConnection } from './server-feed.ts'

import type { TuttiClient } from '@tutti/client'

/** Returns the state of the connection over which the server reports changes to all hooks, such as to show its loss. */
export function useServerConnection(): ServerConnection {
  const client = useTuttiClient()
  return useLiveStore(useMemo(() => createConnectionStore(client), [client]))
}

export function createConnectionStore(client: TuttiClient): LiveStore<ServerConnection> {
  return createLiveStore(NOT_CONNECTED, ({ signal, update }) => {
    followServer(client, signal, { onConnection: (connection) => update(() => connection) })
    return () => undefined
  })
}
