/**
 * Writes event streams to connections, for every protocol.
 *
 * A slow reader delays only its own stream: the next events are read from the log when the connection accepts them. A
 * batch of events is encoded at once and not retained while a reader stalls. Texts contain no raw line breaks of Unicode,
 * which many clients take for the end of a line: each of these characters is within JSON, which can escape it.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { escapeLineBreaks } from '@tutti/protocol/internal'
import { isSharedPage, serializeOnce } from '@tutti/runs/internal'

import { RepeatOmitter } from './omit-repeats.ts'

import type { Writable } from 'node:stream'
import type { Clock } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Headers of a stream of Server-Sent Events. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would otherwise buffer messages.
  'x-accel-buffering': 'no',
}

/** Comment of Server-Sent Events that keeps a quiet connection alive. */
export const KEEP_ALIVE_COMMENT = ': still here\n\n'

/** Returns a value as one message of Server-Sent Events. */
export function encodeMessage(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** Translates the events of a run into the text of a stream. */
export interface EventEncoder {
  /** Text before the first event. */
  readonly head: string
  /** Text that keeps a quiet connection alive. */
  readonly keepAlive: string
  /** Whether the stream has ended; read before each batch. */
  readonly isDone?: boolean
  /** Encodes a batch as text, or as bytes that several readers share; empty when none of it is sent. */
  encode(events: readonly LoggedRunEvent[]): string | Uint8Array
  /** Encodes the end of a stream whose events cannot be read. */
  fail(error: unknown): string
}

export interface EventStreamParts {
  /** Closed when the stream ends or the reader leaves. */
  readonly batches: AsyncIterator<readonly LoggedRunEvent[]>
  readonly encoder: EventEncoder
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
  begun?(): void
  /** Called once, when the stream has ended. */
  over(): void
}

/** Answer of a route whose body is written to the connection while events arrive. */
export interface StreamAnswer {
  readonly headers: Readonly<Record<string, string>>
  readonly parts: EventStreamParts
}

/**
 * Writes the events of a stream to `sink` until they end or the reader leaves, then ends `sink`. Returns the function
 * that ends the stream early.
 */
export function writeEvents(sink: Writable, parts: EventStreamParts): () => void {
  const stream = new WrittenStream(sink, parts)
  void stream.write()
  return () => {
    stream.end()
  }
}

/** Events that are being written to a connection. */
class WrittenStream {
  readonly #sink: Writable
  readonly #parts: EventStreamParts
  #sentAt: number
  #isOver = false
  /** Whether the batches have ended by themselves, so that they need not be closed. */
  #hasAll = false
  #stopHeartbeat: () => void = () => undefined
  /** Continues after the sink has become writable, or has closed. */
  #resume: () => void = () => undefined

  constructor(sink: Writable, parts: EventStreamParts) {
    this.#sink = sink
    this.#parts = parts
    this.#sentAt = parts.clock.elapsed()
  }

  async write(): Promise<void> {
    const { encoder, watch } = this.#parts
    this.#sink.on('close', () => {
      this.end()
    })
    this.#sink.on('drain', () => {
      this.#resume()
    })
    this.#sink.on('error', () => {
      this.end()
    })
    watch?.begun?.()
    this.#send(encoder.head)
    this.#beat()
    try {
      await this.#writeBatches()
    } catch (error) {
      if (!this.#isOver) this.#send(encoder.fail(error))
    }
    this.end()
  }

  /** Ends the stream. Events that were not written stay in the log. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { batches, watch } = this.#parts
    this.#stopHeartbeat()
    if (!this.#hasAll) batches.return?.().catch(() => undefined)
    watch?.over()
    this.#sink.end()
    this.#resume()
  }

  async #writeBatches(): Promise<void> {
    const { batches, encoder, unread } = this.#parts
    while (!this.#isOver && encoder.isDone !== true) {
      const batch = await batches.next()
      this.#hasAll = batch.done === true
      if (batch.done === true || this.#isOver) return
      this.#send(encoder.encode(batch.value))
      unread?.check()
      // Without read-ahead, unread data is only in the socket, where it is counted.
      if (this.#sink.writableNeedDrain) await this.#drained()
    }
  }

  #send(text: string | Uint8Array): void {
    if (text.length === 0) return
    this.#sentAt = this.#parts.clock.elapsed()
    this.#sink.write(typeof text === 'string' ? escapeLineBreaks(text) : text)
  }

  /** Keeps a quiet connection alive. A connection with unread data is not quiet. */
  #beat(): void {
    const { clock, heartbeatMs, encoder } = this.#parts
    const quietMs = this.#sentAt + heartbeatMs - clock.elapsed()
    if (quietMs <= 0 && !this.#sink.writableNeedDrain) this.#send(encoder.keepAlive)
    this.#stopHeartbeat = clock.after(quietMs > 0 ? quietMs : heartbeatMs, () => {
      this.#beat()
    })
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve
    })
  }
}

/** Encoder options of the event stream route. */
export interface RunEventsEncoderOptions {
  readonly wants: (type: LoggedRunEvent['type']) => boolean
  /** Whether the reader restores texts that were sent before. @default false */
  readonly omitsRepeats?: boolean
  /** Called with the events that are sent. */
  readonly given?: (events: readonly LoggedRunEvent[]) => void
  /** Called when the events cannot be read; the reader reconnects for the rest. */
  readonly onError: (error: unknown) => void
}

/** Returns the encoder of the event stream route, which sends each event with its id and type. */
export function runEventsEncoder(options: RunEventsEncoderOptions): EventEncoder {
  const { wants, omitsRepeats = false, given, onError } = options
  const omitter = omitsRepeats ? new RepeatOmitter() : undefined
  return {
    head: ': events follow\n\n',
    keepAlive: KEEP_ALIVE_COMMENT,
    encode(events) {
      const wanted = events.filter(({ type }) => wants(type))
      given?.(wanted)
      const sent = omitter === undefined ? wanted : wanted.map((event) => omitter.omit(event))
      const isWhole =
        sent.length === events.length && sent.every((event, index) => event === events[index])
      return isWhole && isSharedPage(events) ? encodePage(events) : encodeFrames(sent)
    },
    fail(error) {
      onError(error)
      return ''
    },
  }
}

const pages = new WeakMap<readonly LoggedRunEvent[], Buffer>()

/** Returns the frames of a page that several readers share, as bytes that must not be modified. */
function encodePage(events: readonly LoggedRunEvent[]): Buffer {
  const known = pages.get(events)
  if (known !== undefined) return known
  const encoded = Buffer.from(escapeLineBreaks(encodeFrames(events)))
  pages.set(events, encoded)
  return encoded
}

function encodeFrames(events: readonly LoggedRunEvent[]): string {
  return events.map(toFrame).join('')
}

function toFrame(event: LoggedRunEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${serializeOnce(event)}\n\n`
}

const bytes = new WeakMap<LoggedRunEvent, Buffer>()

/** Returns an event as JSON text in UTF-8. All readers share the bytes, which must not be modified. */
export function encodeEventBytes(event: LoggedRunEvent): Buffer {
  const known = bytes.get(event)
  if (known !== undefined) return known
  const encoded = Buffer.from(serializeOnce(event))
  bytes.set(event, encoded)
  return encoded
}
