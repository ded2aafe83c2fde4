/**
 * The body of an event stream in the format of Server-Sent Events.
 *
 * The body is pulled: a reader that does not read holds back its own copy of the stream and nothing
 * else, since whatever it has not read is in the log. When the log cannot be read the stream ends before
 * the run does: a reader then comes back, and goes on after what it has.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { eventJson } from './event-json.ts'

import type { Clock } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'

/** What a stream is made of. */
export interface EventStreamParts {
  readonly batches: AsyncIterator<readonly LoggedRunEvent[]>
  readonly wants: (type: LoggedRunEvent['type']) => boolean
  /** Aborted when the reader leaves. */
  readonly stop: AbortController
  readonly clock: Clock
  /** Told why the stream ended too early; its reader is to come back for the rest. */
  readonly onError: (error: unknown) => void
  /** Longest silence, in milliseconds. */
  readonly heartbeatMs: number
  /** Limits what waits for all readers. */
  readonly unread?: { check(): void }
  /** Told of the reader: when it begins to read, what it is given, and once when it reads no more. */
  readonly watch?: StreamWatch
}

/** Who is told of a reader. */
export interface StreamWatch {
  begun(): void
  given(events: readonly LoggedRunEvent[]): void
  over(): void
}

/** Makes the body: the events that the reader wants, and a comment whenever it was silent too long. */
export function eventStream(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const { clock, heartbeatMs } = parts
  const encoder = new TextEncoder()
  let sentAt = clock.elapsed()
  let next: Promise<IteratorResult<readonly LoggedRunEvent[]>> | undefined
  const reader = watched(parts)
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      // Sends the headers at once, also when there is nothing to tell yet.
      controller.enqueue(encoder.encode(': events follow\n\n'))
    },
    async pull(controller) {
      let text = ''
      parts.unread?.check()
      reader.begun()
      while (text === '') {
        next ??= endingAtFault(parts)
        const arrived = await orQuiet(next, clock, sentAt + heartbeatMs - clock.elapsed())
        if (arrived === 'quiet') {
          text = ': still here\n\n'
          continue
        }
        next = undefined
        if (arrived.done === true) {
          reader.over()
          controller.close()
          return
        }
        const wanted = arrived.value.filter(({ type }) => parts.wants(type))
        text = wanted.map(frameOf).join('')
        reader.given(wanted)
      }
      sentAt = clock.elapsed()
      controller.enqueue(encoder.encode(text))
    },
    cancel() {
      reader.over()
      parts.stop.abort()
      parts.batches.return?.().catch(parts.onError)
    },
  }
  // Nothing is read ahead: what waits for a reader waits in its socket, where it is counted.
  return new ReadableStream(source, { highWaterMark: 0 })
}

/** The watch of a stream, told once that it began and once that it is over; a stream nobody reads never began. */
function watched({ watch }: EventStreamParts): StreamWatch {
  let phase: 'new' | 'read' | 'over' = 'new'
  return {
    begun() {
      if (phase !== 'new') return
      phase = 'read'
      watch?.begun()
    },
    given(events) {
      watch?.given(events)
    },
    over() {
      if (phase === 'read') watch?.over()
      phase = 'over'
    },
  }
}

/** The next batch; the end when the log cannot be read. */
async function endingAtFault({
  batches,
  onError,
}: EventStreamParts): Promise<IteratorResult<readonly LoggedRunEvent[]>> {
  try {
    return await batches.next()
  } catch (error) {
    onError(error)
    return { done: true, value: undefined }
  }
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
