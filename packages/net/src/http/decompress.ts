/** Undoes the compression of a body, so that its bytes can be counted and cut as they are read. */
import { pipeline, type Readable, type Transform } from 'node:stream'
import zlib from 'node:zlib'

/** What servers are asked for. Of deflate there are two forms, told apart by trying: it is not asked for. */
export const ACCEPTED_CODINGS = 'gzip, br'

/** More than one is unheard of, and each costs memory. */
const MAX_CODINGS = 3

/** Name of a coding → what undoes it. A stream that ends early gives what it has, as in browsers. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH })],
  ['br', () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH })],
])

/**
 * The bytes that are in `body` under its Content-Encoding. To destroy the one is to destroy the other.
 *
 * @throws {RangeError} when a coding is not known, or there are too many.
 */
export function decompress(body: Readable, contentEncoding: string | null): Readable {
  const decoders = decodersOf(contentEncoding ?? '')
  const last = decoders.at(-1)
  if (last === undefined) return body
  // An error of any part is one of the last part, and that is where it is heard of.
  pipeline([body, ...decoders], () => undefined)
  return last
}

function decodersOf(contentEncoding: string): readonly Transform[] {
  const codings = contentEncoding
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const unknown = codings.find((coding) => !DECODERS.has(coding))
  if (unknown !== undefined || codings.length > MAX_CODINGS) {
    throw new RangeError(
      `Cannot read the content encoding ${JSON.stringify(contentEncoding)}: must be of gzip, deflate and br`,
    )
  }
  return codings.toReversed().flatMap((coding) => DECODERS.get(coding)?.() ?? [])
}

function gunzip(): Transform {
  return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
}
