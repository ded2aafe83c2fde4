/** Ends streams when the key of their reader expires, as WebSockets do; the reader's next request is refused. */
import type { Caller } from '@tutti/gateway'
import type { Clock } from '@tutti/core'

const STREAM = /^(?:text\/event-stream|application\/x-ndjson)\b/

/** Returns the answer, with a body that ends when the key does if it is a stream. */
export function endAtExpiry(
  response: Response,
  { expiresAt }: Pick<Caller, 'expiresAt'>,
  clock: Clock,
): Response {
  const { body } = response
  const isStream = STREAM.test(response.headers.get('content-type') ?? '')
  if (body === null || !isStream || expiresAt === Infinity) return response
  return new Response(limitBody(body, expiresAt, clock), response)
}

function limitBody(
  body: ReadableStream<Uint8Array>,
  expiresAt: number,
  clock: Clock,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let isOver = false
  let stopWaiting = (): void => undefined
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      stopWaiting = clock.after(expiresAt - clock.now(), () => {
        isOver = true
        controller.close()
        // A source that fails while it is cancelled has nobody left to tell.
        reader.cancel().catch(() => undefined)
      })
    },
    async pull(controller) {
      const { done, value } = await reader.read()
      if (isOver) return
      if (!done) controller.enqueue(value)
      else {
        stopWaiting()
        controller.close()
      }
    },
    async cancel(reason) {
      stopWaiting()
      await reader.cancel(reason)
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}
