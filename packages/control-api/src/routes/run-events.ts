/**
 * The event stream of a run over SSE: what has happened, then what happens, until the run has ended.
 *
 * The body is pulled: a reader that does not read holds back its own copy of the stream and nothing
 * else, since whatever it has not read is in the log.
 */
import { isTerminalRunStatus, ROUTES, RunEventsQuery, type LoggedRunEvent } from '@tutti/protocol'

import { cursorOf } from '../event-cursor.ts'
import { eventFilter, type EventFilter } from '../event-filter.ts'
import { eventJson } from '../event-json.ts'
import { readQuery } from '../http/read-query.ts'
import { runNotFound } from './runs.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Route } from './route.ts'
import type { Clock } from '@tutti/core'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would otherwise gather events before passing them on.
  'x-accel-buffering': 'no',
}

/** The event stream route. */
export function runEventsRoute(options: ResolvedControlApiOptions): Route {
  const { runs, clock, heartbeatMs } = options
  return {
    ...ROUTES.streamRunEvents,
    async handle({ request, parameters: { runId = '' } }) {
      const { from, events } = readQuery(request.url, RunEventsQuery)
      const wants = eventFilter(events)
      const found = await runs.get(runId)
      if (found === undefined) throw runNotFound(runId)
      const { run } = found
      const lastEventId = request.headers.get('last-event-id') ?? undefined
      const cursor = cursorOf(run, { from, lastEventId })
      // "No content" tells an EventSource that there is nothing to reconnect for.
      if (isTerminalRunStatus(run.status) && cursor > run.lastSeq) {
        return new Response(null, { status: 204 })
      }
      const stop = new AbortController()
      const batches = runs.follow({ runId, from: cursor, signal: stop.signal })
      return new Response(eventStream({ batches, wants, stop, clock, heartbeatMs }), {
        headers: HEADERS,
      })
    },
  }
}

interface EventStreamParts {
  readonly batches: AsyncGenerator<readonly LoggedRunEvent[]>
  readonly wants: EventFilter
  readonly stop: AbortController
  readonly clock: Clock
  readonly heartbeatMs: number
}

function eventStream(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<readonly LoggedRunEvent[]>> | undefined
  return new ReadableStream({
    start(controller) {
      // Sends the headers at once, also when there is nothing to tell yet.
      controller.enqueue(encoder.encode(': events follow\n\n'))
    },
    async pull(controller) {
      for (;;) {
        next ??= parts.batches.next()
        const arrived = await orQuiet(next, parts.clock, parts.heartbeatMs)
        if (arrived === 'quiet') {
          controller.enqueue(encoder.encode(': still here\n\n'))
          return
        }
        next = undefined
        if (arrived.done === true) {
          controller.close()
          return
        }
        const frames = arrived.value.filter(({ type }) => parts.wants(type)).map(frameOf)
        if (frames.length > 0) {
          controller.enqueue(encoder.encode(frames.join('')))
          return
        }
      }
    },
    cancel() {
      parts.stop.abort()
    },
  })
}

function frameOf(event: LoggedRunEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${eventJson(event)}\n\n`
}

/** What `promise` gives, or `quiet` when it takes longer than `quietMs`. */
function orQuiet<T>(promise: Promise<T>, clock: Clock, quietMs: number): Promise<T | 'quiet'> {
  return new Promise((resolve, reject) => {
    const stopWaiting = clock.after(quietMs, () => {
      resolve('quiet')
    })
    promise.finally(stopWaiting).then(resolve, reject)
  })
}
