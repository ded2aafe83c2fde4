/** Forks and replays of runs. */
import { ROUTES, routePath, type ForkRunBody } from '@tutti/protocol'

import { callRoute, type RouteCall } from '../http/call-route.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { RunsClient } from './runs-types.ts'

/** Creates the methods of a client that start a run with the record of another one. */
export function createForkMethods(
  settings: ResolvedClientOptions,
): Pick<RunsClient, 'fork' | 'previewFork' | 'replay'> {
  return {
    fork: async (runId, body, { idempotencyKey, ...options } = {}) =>
      callRoute(settings, ROUTES.forkRun, {
        ...options,
        path: routePath('forkRun', { runId }),
        body,
        ...withKey(idempotencyKey),
      }),
    previewFork: async (runId, body, options) => {
      const { method, others } = ROUTES.forkRun
      const route = { method, response: others[0].response }
      const previewed = { ...body, preview: true } satisfies ForkRunBody
      const path = routePath('forkRun', { runId })
      return callRoute(settings, route, { ...options, path, body: previewed, isSafe: true })
    },
    replay: async (runId, body, { idempotencyKey, ...options } = {}) =>
      callRoute(settings, ROUTES.replayRun, {
        ...options,
        path: routePath('replayRun', { runId }),
        body,
        ...withKey(idempotencyKey),
      }),
  }
}

/** Returns the parts of a call that may be repeated only under an idempotency key. */
function withKey(key: string | undefined): Pick<RouteCall, 'isSafe' | 'headers'> {
  return key === undefined
    ? { isSafe: false }
    : { isSafe: true, headers: { 'idempotency-key': key } }
}
