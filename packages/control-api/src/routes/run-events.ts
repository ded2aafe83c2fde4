/** The event stream of a run over SSE: what has happened, then what happens, until the run has ended. */
import { ROUTES, RunEventsQuery } from '@tutti/protocol'
import { eventStream, findPlace, type Route, type StreamWatch } from '@tutti/gateway'

import { eventFilter } from '../event-filter.ts'
import { liveReader, type LiveReader } from '../metrics/live-reader.ts'
import { readQuery } from '../http/read-query.ts'

import type { Instruments } from '../metrics/instruments.ts'
import type { Clock } from '@tutti/core'
import type { ResolvedControlApiOptions } from '../options.ts'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would otherwise gather events before passing them on.
  'x-accel-buffering': 'no',
}

/** The event stream route. */
export function runEventsRoute(options: ResolvedControlApiOptions): Route {
  const { runs, clock, heartbeatMs, logger, metrics, unread } = options
  return {
    ...ROUTES.streamRunEvents,
    async handle({ request, parameters: { runId = '' } }) {
      const { from, events } = readQuery(request.url, RunEventsQuery)
      const wants = eventFilter(events)
      const lastEventId = request.headers.get('last-event-id') ?? undefined
      const { cursor, over } = await findPlace(runs, runId, { from, lastEventId })
      // "No content" tells an EventSource that there is nothing to reconnect for.
      if (over) return new Response(null, { status: 204 })
      const stop = new AbortController()
      const batches = runs.follow({ runId, from: cursor, signal: stop.signal })
      const onError = (error: unknown): void => {
        logger.warn('An event stream ended early: its events could not be read', { runId, error })
      }
      const watch = readerWatch(metrics.instruments, clock)
      const parts = { batches, wants, stop, clock, heartbeatMs, onError, watch, unread }
      return new Response(eventStream(parts), { headers: HEADERS })
    },
  }
}

/** Counts one reader, from when it reads. */
function readerWatch(instruments: Instruments, clock: Clock): StreamWatch {
  let reader: LiveReader | undefined
  return {
    begun() {
      reader = liveReader({ instruments, clock, transport: 'sse' })
    },
    given(events) {
      reader?.given(events)
    },
    over() {
      reader?.gone()
    },
  }
}
