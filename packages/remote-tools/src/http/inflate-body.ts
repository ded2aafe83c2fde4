/** Undoes the compression of a body, up to a limit, so that a small answer cannot become a huge one. */
import { Readable } from 'node:stream'

import { decompress } from '@tutti/net'

/**
 * The first `maxBytes` of what is in `body` under its Content-Encoding.
 *
 * @throws {RangeError} when a coding is not known, or there are too many.
 */
export async function inflateBody(
  body: Uint8Array,
  { coding, maxBytes }: { readonly coding: string; readonly maxBytes: number },
): Promise<{ readonly body: Buffer; readonly truncated: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of decompress(Readable.from([body], { objectMode: false }), coding)) {
    // NOTE: a body is a stream of bytes: no encoding is set on it.
    const bytes = chunk as Uint8Array
    chunks.push(bytes)
    size += bytes.byteLength
    if (size > maxBytes) break
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes }
}
