/** Ends event streams when the key of the caller expires, as WebSockets do. */
import type { Caller } from '@tutti/gateway'
import type { Clock } from '@tutti/core'

const STREAM = /^(?:text\/event-stream|application\/x-ndjson)\b/

/** Returns the response. If it is a stream, its body ends when the key of the caller expires. */
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
        // The response has ended, so a failure of the source concerns no reader.
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
