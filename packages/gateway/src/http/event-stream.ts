/**
 * Bodies of event streams, for every protocol.
 *
 * The reader pulls the body. A slow reader delays only its own stream, because unread events are in the log. A batch of
 * events is encoded at once and not retained while a reader stalls.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Clock } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Headers of a stream of Server-Sent Events. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would otherwise buffer messages.
  'x-accel-buffering': 'no',
}

/** Translates the events of a run into the text of a stream. */
export interface EventEncoder {
  /** Text before the first event. */
  readonly head: string
  /** Text that keeps a quiet connection alive. */
  readonly keepAlive: string
  /** Whether the stream has ended; read before each batch. */
  readonly isDone?: boolean
  /** Encodes a batch; empty when none of it is sent. */
  encode(events: readonly LoggedRunEvent[]): string
  /** Encodes the end of a stream whose events cannot be read. */
  fail(error: unknown): string
}

/** Parts of a stream. */
export interface EventStreamParts {
  readonly batches: AsyncIterator<readonly LoggedRunEvent[]>
  readonly encoder: EventEncoder
  /** Aborted when the reader leaves. */
  readonly stop: AbortController
  readonly clock: Clock
  /** Maximum time without data, in milliseconds. */
  readonly heartbeatMs: number
  /** Limits the unread data of all readers. */
  readonly unread?: { check(): void }
  readonly watch?: StreamWatch
}

/** Observes a reader. */
export interface StreamWatch {
  /** Called when the reader begins to read. */
  begun(): void
  /** Called once after `begun`, when the stream has ended. */
  over(): void
}

/** Creates the body of a stream. */
export function eventStream(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const { batches, encoder, clock, heartbeatMs } = parts
  const bytes = new TextEncoder()
  let sentAt = clock.elapsed()
  let next: Promise<IteratorResult<readonly LoggedRunEvent[]>> | undefined
  const reader = watchOnce(parts)
  const end = (): void => {
    reader.over()
    parts.stop.abort()
    batches.return?.().catch(() => undefined)
  }
  /** Returns the next text; undefined at the end. */
  const nextText = async (): Promise<string | undefined> => {
    for (;;) {
      if (encoder.isDone === true) return undefined
      next ??= batches.next()
      const arrived = await waitOrQuiet(next, clock, sentAt + heartbeatMs - clock.elapsed())
      if (arrived === 'quiet') return encoder.keepAlive
      next = undefined
      if (arrived.done === true) return undefined
      const text = encoder.encode(arrived.value)
      if (text !== '') return text
    }
  }
  let hasFailed = false
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      // The first chunk makes the server send the headers at once.
      controller.enqueue(bytes.encode(encoder.head))
    },
    async pull(controller) {
      parts.unread?.check()
      reader.begun()
      let text: string | undefined
      try {
        text = hasFailed ? undefined : await nextText()
      } catch (error) {
        hasFailed = true
        text = encoder.fail(error) || undefined
      }
      if (text === undefined) {
        end()
        controller.close()
        return
      }
      sentAt = clock.elapsed()
      controller.enqueue(bytes.encode(text))
    },
    cancel: end,
  }
  // Without read-ahead, unread data is only in the socket, where it is counted.
  return new ReadableStream(source, { highWaterMark: 0 })
}

/** Returns a watch that calls `over` once, and only after `begun`; a stream that is never read does not begin. */
function watchOnce({ watch }: EventStreamParts): StreamWatch {
  let phase: 'new' | 'read' | 'over' = 'new'
  return {
    begun() {
      if (phase !== 'new') return
      phase = 'read'
      watch?.begun()
    },
    over() {
      if (phase === 'read') watch?.over()
      phase = 'over'
    },
  }
}

/** Options of the encoder of the event stream route. */
export interface RunEventsEncoderOptions {
  readonly wants: (type: LoggedRunEvent['type']) => boolean
  /** Called with the events that are sent. */
  readonly given?: (events: readonly LoggedRunEvent[]) => void
  /** Called when the events cannot be read; the reader reconnects for the rest. */
  readonly onError: (error: unknown) => void
}

/** Returns the encoder of the event stream route, which sends each event with its id and type. */
export function runEventsEncoder(options: RunEventsEncoderOptions): EventEncoder {
  const { wants, given, onError } = options
  return {
    head: ': events follow\n\n',
    keepAlive: ': still here\n\n',
    encode(events) {
      const wanted = events.filter(({ type }) => wants(type))
      given?.(wanted)
      return wanted.map(toFrame).join('')
    },
    fail(error) {
      onError(error)
      return ''
    },
  }
}

function toFrame(event: LoggedRunEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${encodeEventText(event)}\n\n`
}

const texts = new WeakMap<LoggedRunEvent, string>()
const bytes = new WeakMap<LoggedRunEvent, Buffer>()

/** Returns an event as JSON text, encoded once for all readers. */
export function encodeEventText(event: LoggedRunEvent): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const text = JSON.stringify(event)
  texts.set(event, text)
  return text
}

/** Returns an event as JSON text in UTF-8. All readers share the bytes, which must not be modified. */
export function encodeEventBytes(event: LoggedRunEvent): Buffer {
  const known = bytes.get(event)
  if (known !== undefined) return known
  const encoded = Buffer.from(encodeEventText(event))
  bytes.set(event, encoded)
  return encoded
}

/** Returns the result of `promise`, or `quiet` when it takes longer than `quietMs`. */
function waitOrQuiet<T>(promise: Promise<T>, clock: Clock, quietMs: number): Promise<T | 'quiet'> {
  return new Promise((resolve, reject) => {
    const stopWaiting = clock.after(quietMs, () => {
      resolve('quiet')
    })
    promise.finally(stopWaiting).then(resolve, reject)
  })
}
