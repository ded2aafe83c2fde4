/** Reads and watches response bodies. */

/** The first bytes of a body. */
export interface LimitedBody {
  readonly bytes: Buffer
  /** Whether the body continues after these bytes. */
  readonly truncated: boolean
}

/** Reads at most `maxBytes` of a body. If there is more, the rest is not read and the connection is closed. */
export async function readLimitedBody(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<LimitedBody> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    pieces.push(piece)
    size += piece.byteLength
    if (size > maxBytes) break
  }
  return { bytes: Buffer.concat(pieces).subarray(0, maxBytes), truncated: size > maxBytes }
}

/**
 * Returns the same response, with `onPiece` called for each piece of its body that is ready to be read. If it
 * throws, reading the body fails with that error and the connection is closed.
 */
export function watchBody(response: Response, onPiece: (piece: Uint8Array) => void): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) {
          controller.close()
          return
        }
        try {
          onPiece(value)
        } catch (error) {
          controller.error(error)
          await reader.cancel(error)
          return
        }
        controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  const { status, statusText, headers, url } = response
  return withUrl(new Response(body, { status, statusText, headers }), url)
}

/** Sets the URL of a response that was constructed; only `fetch` itself can give it one. */
export function withUrl(response: Response, url: string): Response {
  return Object.defineProperty(response, 'url', { value: url })
}
