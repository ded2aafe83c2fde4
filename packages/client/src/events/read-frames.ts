/**
 * Reads server-sent events from the body of a response.
 *
 * Bytes are read only when the reader asks for more, so a slow reader slows down the server and fills no memory here.
 * The silence of the server is measured only while the reader waits.
 */
import { createParser, type EventSourceMessage, type ParseError } from 'eventsource-parser'

import { TuttiClientError } from '../errors.ts'

import type { CallScope } from '../call-scope.ts'

/** Maximum number of characters of a frame: many times the largest output that a server stores in an event. */
const MAX_FRAME_LENGTH = 64 * 1024 * 1024

export interface FrameSource {
  readonly body: ReadableStream<Uint8Array>
  readonly scope: CallScope
  /** Silence after which the scope ends with TIMED_OUT, in milliseconds. */
  readonly idleTimeoutMs: number
}

/**
 * Yields the frames that each chunk of the body completes; a chunk may complete none. Ends with the body; an incomplete
 * last frame is dropped, as the standard requires.
 *
 * @throws {TuttiClientError} the reason when the scope ends; CONNECTION_FAILED when the connection is lost;
 * BAD_RESPONSE when a frame is too large.
 */
export async function* readFrames({
  body,
  scope,
  idleTimeoutMs,
}: FrameSource): AsyncGenerator<readonly EventSourceMessage[], void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const frames = frameCollector()
  try {
    for (;;) {
      const stop = scope.limit(idleTimeoutMs, `No data for ${idleTimeoutMs} ms`)
      const { done, value } = await scope
        .race(reader.read())
        .catch(throwConnectionFailed)
        .finally(stop)
      if (done) return
      yield frames.take(decoder.decode(value, { stream: true }))
    }
  } finally {
    // A body that has failed rejects this.
    reader.cancel().catch(() => undefined)
  }
}

function throwConnectionFailed(error: unknown): never {
  if (TuttiClientError.isInstance(error)) throw error
  throw new TuttiClientError('CONNECTION_FAILED', 'The connection was lost', { cause: error })
}

interface FrameCollector {
  /** Returns the frames that `text` completes. */
  take(text: string): readonly EventSourceMessage[]
}

function frameCollector(): FrameCollector {
  let complete: EventSourceMessage[] = []
  let failure: ParseError | undefined
  const parser = createParser({
    maxBufferSize: MAX_FRAME_LENGTH,
    onEvent(message) {
      complete.push(message)
    },
    // The standard requires unknown fields to be ignored.
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') failure = error
    },
  })
  return {
    take(text) {
      complete = []
      parser.feed(text)
      if (failure === undefined) return complete
      throw new TuttiClientError(
        'BAD_RESPONSE',
        `An event exceeds ${MAX_FRAME_LENGTH} characters`,
        { cause: failure },
      )
    },
  }
}
