/** Everything that a client can do with runs. */
import {
  ROUTES,
  routePath,
  type CancelBody,
  type CancelRunsBody,
  type InjectBody,
  type SwitchModelBody,
} from '@tutti/protocol'

import { runEvents } from '../events/run-events.ts'
import { callPlainRoute, callRoute } from '../http/call-route.ts'
import { listEveryRun } from './list-every-run.ts'
import { modelOrTier, textOrAction } from './steering-bodies.ts'
import { submitRun } from './submit-run.ts'
import { runEnd } from './run-end.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { Loose, RunsClient } from './runs-types.ts'

/** Makes the runs part of a client. */
export function createRunsClient(settings: ResolvedClientOptions): RunsClient {
  return {
    submit: submitRun(settings),
    async run(body, { idempotencyKey, timeoutMs, ...options } = {}) {
      const { signal } = options
      const { runId } = await submitRun(settings)(body, { idempotencyKey, signal })
      return runEnd(settings, runId, { ...options, timeoutMs })
    },
    result: async (runId, options) => runEnd(settings, runId, options),
    get: async (runId, options) =>
      callRoute(settings, ROUTES.getRun, { ...options, path: routePath('getRun', { runId }) }),
    list: async (query = {}, options = {}) =>
      callRoute(settings, ROUTES.listRuns, { ...options, path: routePath('listRuns'), query }),
    listAll: (query = {}, options = {}) => listEveryRun(settings, query, options),
    async delete(runId, options) {
      const path = routePath('deleteRun', { runId })
      await callPlainRoute(settings, ROUTES.deleteRun, { ...options, path })
    },
    cancel: async (runId, { mode, ...options } = {}) =>
      callRoute(settings, ROUTES.cancelRun, {
        ...options,
        path: routePath('cancelRun', { runId }),
        ...(mode === undefined ? {} : { body: { mode } satisfies CancelBody }),
      }),
    cancelAll: async ({ tag, mode }, options) =>
      callRoute(settings, ROUTES.cancelRuns, {
        ...options,
        path: routePath('cancelRuns'),
        body: { tag, mode } satisfies Loose<CancelRunsBody>,
      }),
    switchModel: async (runId, model, { taskName, ...options } = {}) =>
      callRoute(settings, ROUTES.switchModel, {
        ...options,
        path: routePath('switchModel', { runId }),
        body: { ...modelOrTier(model), taskName } satisfies Loose<SwitchModelBody>,
      }),
    inject: async (runId, content, { target, priority, ttl, ...options } = {}) =>
      callRoute(settings, ROUTES.injectDirective, {
        ...options,
        path: routePath('injectDirective', { runId }),
        body: { ...textOrAction(content), target, priority, ttl } satisfies Loose<InjectBody>,
      }),
    trace: async (runId, options) =>
      callRoute(settings, ROUTES.getRunTrace, {
        ...options,
        path: routePath('getRunTrace', { runId }),
      }),
    dag: async (runId, options) =>
      callRoute(settings, ROUTES.getRunDag, {
        ...options,
        path: routePath('getRunDag', { runId }),
      }),
    events: (runId, options = {}) => runEvents(settings, runId, options),
  }
}
