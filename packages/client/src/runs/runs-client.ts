/** The runs of a server. */
import { ROUTES, routePath } from '@tutti/protocol'
import type { CancelRunsBody } from '@tutti/protocol/internal'

import { commandSender, type Loose } from '../commands.ts'
import { runEvents } from '../events/run-events.ts'
import { callPlainRoute, callRoute } from '../http/call-route.ts'
import { createForkMethods } from './fork-methods.ts'
import { listEveryRun } from './list-every-run.ts'
import { submitRun } from './submit-run.ts'
import { submitAndWait, waitForRunEnd } from './run-end.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { RunsClient } from './runs-types.ts'

/** Creates the runs part of a client. */
export function createRunsClient(settings: ResolvedClientOptions): RunsClient {
  const send = commandSender(settings)
  return {
    submit: submitRun(settings),
    run: async (body, { idempotencyKey, ...options } = {}) =>
      submitAndWait(settings, { body, idempotencyKey }, options),
    result: async (runId, options) => waitForRunEnd(settings, runId, options),
    get: async (runId, options) =>
      callRoute(settings, ROUTES.getRun, { ...options, path: routePath('getRun', { runId }) }),
    list: async (query = {}, options = {}) =>
      callRoute(settings, ROUTES.listRuns, { ...options, path: routePath('listRuns'), query }),
    listAll: (query = {}, options = {}) => listEveryRun(settings, query, options),
    async delete(runId, options) {
      const path = routePath('deleteRun', { runId })
      await callPlainRoute(settings, ROUTES.deleteRun, { ...options, path })
    },
    cancel: async (runId, { mode, ...options } = {}) => {
      const body = mode === undefined ? undefined : { mode }
      return send({ kind: 'cancel', target: runId, body }, options)
    },
    cancelAll: async ({ tag, mode }, options) =>
      callRoute(settings, ROUTES.cancelRuns, {
        ...options,
        path: routePath('cancelRuns'),
        body: { tag, mode } satisfies Loose<CancelRunsBody>,
      }),
    switchModel: async (runId, model, { taskName, ...options } = {}) => {
      const chosen = typeof model === 'string' ? { model } : { tier: model.tier }
      return send({ kind: 'switch_model', target: runId, body: { ...chosen, taskName } }, options)
    },
    inject: async (runId, content, { target, priority, ttl, ...options } = {}) => {
      const given =
        typeof content === 'string' ? { content } : { action: content.action, value: content.value }
      const body = { ...given, target, priority, ttl }
      return send({ kind: 'inject', target: runId, body }, options)
    },
    ...createForkMethods(settings),
    migrate: async (runId, { to, preview, ...options }) =>
      callRoute(settings, ROUTES.migrateRun, {
        ...options,
        path: routePath('migrateRun', { runId }),
        body: { to, preview },
      }),
    compare: async (a, b, options = {}) =>
      callRoute(settings, ROUTES.compareRuns, {
        ...options,
        path: routePath('compareRuns'),
        query: { a, b },
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
