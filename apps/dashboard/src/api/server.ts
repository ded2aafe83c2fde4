/** The server of the page: its client, cached responses and events. */
import { createClient, type TuttiClient } from '@tutti/client'
import { QueryClient } from '@tanstack/react-query'
import { createContext, useContext } from 'react'

import { takeEarlyResponse } from './early-request.ts'
import { openServerFeed, type ServerFeed } from './server-feed.ts'

/** Everything that the page uses of its server. */
export interface Server {
  readonly client: TuttiClient
  /** Cached responses. */
  readonly answers: QueryClient
  readonly feed: ServerFeed
  /** Aborts when the page leaves the server. */
  readonly signal: AbortSignal
  close(): void
}

/** Status of a response to a request without a valid key. */
const UNAUTHORIZED = 401

/**
 * Connects to the server of the page. `onRefused` is called when any call, including those that
 * open sockets, is rejected for its key. Responses after `close` are ignored, because they concern
 * an earlier key.
 */
export function connectServer(key: string | undefined, onRefused: () => void): Server {
  const leaving = new AbortController()
  const { signal } = leaving
  const client = createClient({
    baseUrl: './',
    apiKey: key,
    fetch: async (url, init) => {
      const response = await (takeEarlyResponse(url, init) ?? fetch(url, init))
      if (response.status === UNAUTHORIZED && !signal.aborted) onRefused()
      return response
    },
  })
  const answers = new QueryClient({
    defaultOptions: {
      queries: {
        // The client already retries, and the feed reports changes.
        retry: false,
        staleTime: Infinity,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        // The client knows whether the server is reachable; the browser only knows whether it has a
        // network.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
  return {
    client,
    answers,
    feed: openServerFeed(client, signal),
    signal,
    close() {
      leaving.abort()
      void answers.cancelQueries()
      answers.clear()
    },
  }
}

/** Provides the server of the page. */
export const ServerContext = createContext<Server | undefined>(undefined)

/**
 * Returns the server of the page.
 *
 * @throws {Error} outside of `ServerContext`.
 */
export function useServer(): Server {
  const server = useContext(ServerContext)
  if (server === undefined) throw new Error('useServer must be called inside a ServerContext')
  return server
}
