/** Streams the events of a run over SSE: first the past events, then live ones until the run has ended. */
import { ROUTES, RUN_EVENT_TYPES, type RunEvent, RunEventsQuery } from '@tutti/protocol'
import {
  badRequest,
  eventStream,
  findPlace,
  type HttpRoute,
  runEventsEncoder,
  STREAM_HEADERS,
} from '@tutti/gateway'

import { trackReader, type LiveReader } from '../metrics/live-reader.ts'
import { readQuery } from '../http/read-query.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Returns the route of the event stream. */
export function runEventsRoute(options: ResolvedControlApiOptions): HttpRoute {
  const { runs, clock, heartbeatMs, logger, metrics, unread } = options
  return {
    ...ROUTES.streamRunEvents,
    async handle({ request, parameters: { runId = '' } }) {
      const { from, events } = readQuery(request.url, RunEventsQuery)
      const wants = createEventFilter(events)
      const lastEventId = request.headers.get('last-event-id') ?? undefined
      const { cursor, over } = await findPlace(runs, runId, { from, lastEventId })
      // Status 204 stops an EventSource from reconnecting.
      if (over) return new Response(null, { status: 204 })
      const stop = new AbortController()
      const batches = runs.follow({ runId, from: cursor, signal: stop.signal })
      const onError = (error: unknown): void => {
        logger.warn('Ended an event stream early: cannot read its events', { runId, error })
      }
      let reader: LiveReader | undefined
      const watch = {
        begun() {
          reader = trackReader({ instruments: metrics.instruments, clock, transport: 'sse' })
        },
        over: () => reader?.end(),
      }
      const given = (sent: readonly LoggedRunEvent[]): void => reader?.recordDelivery(sent)
      const encoder = runEventsEncoder({ wants, given, onError })
      const parts = { batches, encoder, stop, clock, heartbeatMs, watch, unread }
      return new Response(eventStream(parts), { headers: STREAM_HEADERS })
    },
  }
}

/** Returns whether a reader wants events of a type. */
type EventFilter = (type: RunEvent['type']) => boolean

/**
 * Returns the filter of a comma-separated list of event types. Without a list, and with an empty list or `*`, every event
 * passes.
 *
 * @throws {TuttiError} BAD_REQUEST naming every unknown type and the known ones.
 */
function createEventFilter(list: string | undefined): EventFilter {
  const names = (list ?? '').split(',').map((name) => name.trim())
  const wanted = new Set(names.filter((name) => name !== ''))
  const unknown = [...wanted].filter(
    (name) => name !== '*' && !RUN_EVENT_TYPES.some((type) => type === name),
  )
  if (unknown.length > 0) {
    const message = `has unknown event types: "${unknown.join('", "')}". Known: ${RUN_EVENT_TYPES.join(', ')}`
    throw badRequest('query', [{ path: '/events', message }])
  }
  return wanted.size === 0 || wanted.has('*') ? () => true : (type) => wanted.has(type)
}
