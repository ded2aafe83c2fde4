/** A stream of Node as one of the web. */
import type { Readable } from 'node:stream'

/** Bytes that wait to be read, at which no more are taken from the connection. */
const MAX_WAITING_BYTES = 1_048_576

/**
 * The bytes of `source`, which begins to be read at once. What arrived before it failed is read before the
 * failure is; the streams of Node, and those of the web, drop it. To cancel it destroys the source.
 *
 * @param asFailure - what it fails with, instead of what the source failed with
 */
export function byteStream(
  source: Readable,
  asFailure: (problem: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const pieces: Uint8Array[] = []
  let waiting = 0
  let end: { readonly failure?: unknown } | undefined
  let wake: (() => void) | undefined
  const tell = (): void => {
    wake?.()
    wake = undefined
  }
  source.on('data', (piece: Uint8Array) => {
    pieces.push(piece)
    waiting += piece.byteLength
    if (waiting >= MAX_WAITING_BYTES) source.pause()
    tell()
  })
  source.on('end', () => {
    end ??= {}
    tell()
  })
  source.on('error', (problem) => {
    end ??= { failure: asFailure(problem) }
    tell()
  })
  const more = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
    })
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pieces.length === 0 && end === undefined) await more()
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
        tell()
      },
    },
    { highWaterMark: 0 },
  )
}
