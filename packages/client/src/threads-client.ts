/** The threads of a server. */
import { ROUTES, routePath, type Thread } from '@tutti/protocol'
import type {
  CreateThreadBody,
  ListThreadsQuery,
  ThreadList,
  ThreadRunList,
  ThreadRunsQuery,
} from '@tutti/protocol/internal'

import { callPlainRoute, callRoute } from './http/call-route.ts'

import type { CallOptions } from './http/exchange.ts'
import type { ResolvedClientOptions } from './options.ts'

/**
 * Threads of a server: conversations that consist of runs, which are submitted with a `threadId`. Every method throws
 * {@link TuttiClientError}; an empty `threadId` is a TypeError.
 */
export interface ThreadsClient {
  /** Creates a thread. With a `threadId`, a repeated call returns the existing thread, or fails with THREAD_EXISTS. */
  create(body?: CreateThreadBody, options?: CallOptions): Promise<Thread>
  /** Returns a thread. */
  get(threadId: string, options?: CallOptions): Promise<Thread>
  /** Returns a page of threads, the one with the newest submission first. */
  list(query?: ListThreadsQuery, options?: CallOptions): Promise<ThreadList>
  /** Returns a page of the runs of a thread as messages, newest first. */
  runs(threadId: string, query?: ThreadRunsQuery, options?: CallOptions): Promise<ThreadRunList>
  /** Deletes a thread with its runs; an active run is cancelled first. */
  delete(threadId: string, options?: CallOptions): Promise<void>
}

/** Creates the threads part of a client. */
export function createThreadsClient(settings: ResolvedClientOptions): ThreadsClient {
  return {
    create: async (body = {}, options = {}) =>
      callRoute(settings, ROUTES.createThread, {
        ...options,
        path: routePath('createThread'),
        body,
        isSafe: body.threadId !== undefined,
      }),
    get: async (threadId, options) =>
      callRoute(settings, ROUTES.getThread, {
        ...options,
        path: routePath('getThread', { threadId }),
      }),
    list: async (query = {}, options = {}) =>
      callRoute(settings, ROUTES.listThreads, {
        ...options,
        path: routePath('listThreads'),
        query,
      }),
    runs: async (threadId, query = {}, options = {}) =>
      callRoute(settings, ROUTES.listThreadRuns, {
        ...options,
        path: routePath('listThreadRuns', { threadId }),
        query,
      }),
    async delete(threadId, options) {
      const path = routePath('deleteThread', { threadId })
      await callPlainRoute(settings, ROUTES.deleteThread, { ...options, path })
    },
  }
}
