/** Converts Node streams to web streams. */
import type { Readable } from 'node:stream'

/** Number of unread bytes at which the source is paused. */
const MAX_WAITING_BYTES = 1_048_576

/**
 * Returns the bytes of `source` as a web stream. Reading of `source` starts immediately. Bytes that arrived before a
 * failure are delivered before it; the streams of Node and of the web drop them. Cancelling destroys the source.
 *
 * @param toFailure - converts a source error to the stream's error
 */
export function toByteStream(
  source: Readable,
  toFailure: (problem: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const pieces: Uint8Array[] = []
  let waiting = 0
  let end: { readonly failure?: unknown } | undefined
  let wake: (() => void) | undefined
  const wakeReader = (): void => {
    wake?.()
    wake = undefined
  }
  source.on('data', (piece: Uint8Array) => {
    pieces.push(piece)
    waiting += piece.byteLength
    if (waiting >= MAX_WAITING_BYTES) source.pause()
    wakeReader()
  })
  source.on('end', () => {
    end ??= {}
    wakeReader()
  })
  source.on('error', (problem) => {
    end ??= { failure: toFailure(problem) }
    wakeReader()
  })
  const waitForMore = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
    })
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pieces.length === 0 && end === undefined) await waitForMore()
        const piece = pieces.shift()
        if (piece !== undefined) {
          waiting -= piece.byteLength
          if (waiting < MAX_WAITING_BYTES) source.resume()
          controller.enqueue(piece)
        } else if (end !== undefined && 'failure' in end) controller.error(end.failure)
        else controller.close()
      },
      cancel() {
        end ??= {}
        pieces.length = 0
        source.destroy()
        wakeReader()
      },
    },
    { highWaterMark: 0 },
  )
}
