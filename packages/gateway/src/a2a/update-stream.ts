/**
 * The body of a stream of updates in the format of Server-Sent Events, and a comment whenever it was silent too
 * long: a named event would end the stream for clients of A2A.
 *
 * The body is pulled: a reader that does not read holds back its own copy and nothing else.
 */
import type { Clock } from '@tutti/core'

/** What a stream is made of. */
export interface UpdateStreamParts {
  /** Each a JSON text, of which one message is made. */
  readonly messages: AsyncGenerator<string>
  /** Aborted when the reader leaves. */
  readonly stop: AbortController
  readonly clock: Clock
  /** Longest silence, in milliseconds. */
  readonly heartbeatMs: number
}

/** The headers of such an answer. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would otherwise gather messages before passing them on.
  'x-accel-buffering': 'no',
}

/** Makes the body. */
export function updateStream(parts: UpdateStreamParts): ReadableStream<Uint8Array> {
  const { messages, stop, clock, heartbeatMs } = parts
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<string>> | undefined
  return new ReadableStream({
    async pull(controller) {
      next ??= messages.next()
      const arrived = await orQuiet(next, clock, heartbeatMs)
      if (arrived === 'quiet') {
        controller.enqueue(encoder.encode(': still here\n\n'))
        return
      }
      next = undefined
      if (arrived.done === true) controller.close()
      else controller.enqueue(encoder.encode(`data: ${arrived.value}\n\n`))
    },
    async cancel() {
      stop.abort()
      // Lets go of what it listens to, also when it was not waiting for more.
      await messages.return(undefined)
    },
  })
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
