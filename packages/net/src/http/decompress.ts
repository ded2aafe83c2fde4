/** Decompresses bodies as streams, so that readers can count and limit the bytes. */
import { pipeline, type Readable, type Transform } from 'node:stream'
import zlib from 'node:zlib'

/** Codings that requests accept. `deflate` is missing because it has two forms that only trying distinguishes. */
export const ACCEPTED_CODINGS = 'gzip, br'

/** Maximum number of codings of one body: more than one is unusual, and each costs memory. */
const MAX_CODINGS = 3

/** Decoders by name of the coding. A stream that ends early yields what it contains, as in browsers. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH })],
  ['br', () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH })],
])

/**
 * Returns the decompressed bytes of `body`. Destroying the result destroys `body`.
 *
 * @throws {RangeError} for an unknown coding or too many codings.
 */
export function decompress(body: Readable, contentEncoding: string | null): Readable {
  const decoders = createDecoders(contentEncoding ?? '')
  const last = decoders.at(-1)
  if (last === undefined) return body
  // `pipeline` passes an error of any part on to the last part.
  pipeline([body, ...decoders], () => undefined)
  return last
}

function createDecoders(contentEncoding: string): readonly Transform[] {
  const codings = contentEncoding
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const unknown = codings.find((coding) => !DECODERS.has(coding))
  if (unknown !== undefined || codings.length > MAX_CODINGS) {
    throw new RangeError(
      `Unsupported content encoding ${JSON.stringify(contentEncoding)}: expected gzip, deflate or br`,
    )
  }
  return codings.toReversed().flatMap((coding) => DECODERS.get(coding)?.() ?? [])
}

function createGunzip(): Transform {
  return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
}
