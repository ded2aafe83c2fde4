/** Exports runs in AgentEnsemble's file formats. */
import { ROUTES } from '@tutti/protocol'
import { largeResponse, type GatewayOptions, type HttpRoute } from '@tutti/gateway/internal'

import { readRunDag, readRunTrace } from './run-trace.ts'

/** Returns the routes for the trace and the task graph of a run. */
export function traceRoutes(
  server: GatewayOptions,
  limits: { readonly maxTraceBytes: number },
): readonly HttpRoute[] {
  const options = { ...server, ...limits }
  return [
    {
      ...ROUTES.getRunTrace,
      async handle({ request, caller, parameters: { runId = '' } }) {
        return largeResponse(options.reads, request, () => readRunTrace(options, runId, caller))
      },
    },
    {
      ...ROUTES.getRunDag,
      async handle({ request, caller, parameters: { runId = '' } }) {
        return largeResponse(options.reads, request, () => readRunDag(options, runId, caller))
      },
    },
  ]
}
