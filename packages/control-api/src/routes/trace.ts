/** Traces of runs. */
import { ROUTES } from '@tutti/protocol'

import { runTrace } from '../trace/run-trace.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Route } from './route.ts'

/** The trace of a run, as a file that trace viewers show. */
export function traceRoutes(options: ResolvedControlApiOptions): readonly Route[] {
  return [
    {
      ...ROUTES.getRunTrace,
      async handle({ parameters: { runId = '' } }) {
        return Response.json(await runTrace(options, runId))
      },
    },
  ]
}
