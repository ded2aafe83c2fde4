/** The server that the page came from: its client, its answers, and what happens there. */
import { createClient, type TuttiClient } from '@tutti/client'
import { QueryClient } from '@tanstack/react-query'
import { createContext, useContext } from 'react'

import { openServerFeed, type ServerFeed } from './server-feed.ts'

/** Everything that the page has of its server. */
export interface Server {
  readonly client: TuttiClient
  /** Answers that were read, so that nothing is asked for twice. */
  readonly answers: QueryClient
  readonly feed: ServerFeed
  close(): void
}

/** The status of an answer to who has no key that the server takes. */
const UNAUTHORIZED = 401

/**
 * Connects to the server of the page; `onRefused` is told when it wants another key. Every call is looked at,
 * also those that open sockets; what comes after `close` is not told, as it is about a key of the past.
 */
export function connectServer(key: string | undefined, onRefused: () => void): Server {
  let isClosed = false
  const client = createClient({
    baseUrl: './',
    apiKey: key,
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      if (response.status === UNAUTHORIZED && !isClosed) onRefused()
      return response
    },
  })
  const answers = new QueryClient({
    defaultOptions: {
      queries: {
        // The client repeats what may pass, and the feed tells when something has changed.
        retry: false,
        staleTime: Infinity,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        // The client knows when the server is there; the browser knows of its network alone.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
  const feed = openServerFeed(client)
  return {
    client,
    answers,
    feed,
    close() {
      isClosed = true
      feed.close()
      void answers.cancelQueries()
      answers.clear()
    },
  }
}

/** The server of the page. */
export const ServerContext = createContext<Server | undefined>(undefined)

/**
 * The server of the page.
 *
 * @throws {Error} outside of `ServerContext`.
 */
export function useServer(): Server {
  const server = useContext(ServerContext)
  if (server === undefined) throw new Error('There is no server around this component')
  return server
}
