/**
 * Reads server-sent events from the body of an answer.
 *
 * Bytes are read only when the reader comes for more, so a slow reader holds the server back and not the
 * memory of this side; and the silence of the server is measured only while somebody waits for it.
 */
import { createParser, type EventSourceMessage, type ParseError } from 'eventsource-parser'

import { TuttiClientError } from '../errors.ts'

import type { CallScope } from '../call-scope.ts'

/** Characters of one frame, at most: many times the largest output that a server keeps in an event. */
const MAX_FRAME_LENGTH = 64 * 1024 * 1024

/** What frames are read from and how. */
export interface FrameSource {
  readonly body: ReadableStream<Uint8Array>
  readonly scope: CallScope
  /** Silence after which the scope ends with TIMED_OUT. */
  readonly idleTimeoutMs: number
}

/**
 * The frames that each piece of the body completes; a piece may complete none. Ends with the body; what
 * has no end by then is dropped, as the standard says.
 *
 * @throws {TuttiClientError} the reason when the scope ends; CONNECTION_FAILED when the body breaks off;
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
      const stop = scope.limit(idleTimeoutMs, `No sign of life for ${idleTimeoutMs} ms`)
      const { done, value } = await scope
        .race(reader.read())
        .catch(throwConnectionFailed)
        .finally(stop)
      if (done) return
      yield frames.take(decoder.decode(value, { stream: true }))
    }
  } finally {
    // A body that has failed refuses this, which nobody needs to know.
    reader.cancel().catch(() => undefined)
  }
}

function throwConnectionFailed(error: unknown): never {
  if (TuttiClientError.isInstance(error)) throw error
  throw new TuttiClientError('CONNECTION_FAILED', 'The connection broke off', { cause: error })
}

interface FrameCollector {
  /** The frames that are complete with `text`. */
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
    // Fields that the standard does not know are passed over, as it says.
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') failure = error
    },
  })
  return {
    take(text) {
      complete = []
      parser.feed(text)
      if (failure === undefined) return complete
      throw new TuttiClientError('BAD_RESPONSE', 'An event is too large', { cause: failure })
    },
  }
}
