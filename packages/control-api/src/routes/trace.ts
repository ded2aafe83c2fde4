/** Exports runs in AgentEnsemble's file formats. */
import { ROUTES } from '@tutti/protocol'
import { largeResponse, type HttpRoute } from '@tutti/gateway'

import { readRunDag, readRunTrace } from '../agentensemble/trace/run-trace.ts'

import type { ResolvedControlApiOptions } from '../options.ts'

/** Returns the routes for the trace and the task graph of a run. */
export function traceRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
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
