/** Streams the events of a run over SSE: first the past events, then live ones until the run has ended. */
import { ROUTES } from '@tutti/protocol'
import { RunEventsQuery } from '@tutti/protocol/internal'
import { findPlace, type HttpRoute } from '@tutti/gateway/internal'

import { readQuery } from '../http/read-query.ts'
import { createTypeFilter, streamRun } from '../runs/stream-run.ts'

import type { ResolvedControlApiOptions } from '../options.ts'

/** Returns the route of the event stream. */
export function runEventsRoute(options: ResolvedControlApiOptions): HttpRoute {
  const { runs } = options
  return {
    ...ROUTES.streamRunEvents,
    async handle({ request, caller, parameters: { runId = '' } }) {
      const { from, events, repeats } = readQuery(request.url, RunEventsQuery)
      const wants = createTypeFilter(events)
      const lastEventId = request.headers.get('last-event-id') ?? undefined
      const { cursor, over } = await findPlace(runs, runId, { from, lastEventId, caller })
      // Status 204 stops an EventSource from reconnecting.
      if (over) return new Response(null, { status: 204 })
      const batches = runs.follow({ runId, from: cursor })
      return streamRun(options, { runId, batches, wants, omitsRepeats: repeats === 'omit' })
    },
  }
}
