/** Undoes the compression of a body, up to a limit, so that a small answer cannot become a huge one. */
import { Readable, pipeline, type Transform } from 'node:stream'
import zlib from 'node:zlib'

/** What servers are asked for. Of deflate there are two forms, told apart by trying: it is not asked for. */
export const ACCEPTED_CODINGS = 'gzip, br'

/** More than one is unheard of, and each costs memory. */
const MAX_CODINGS = 3

/** Name of a coding → what undoes it. A body that ends early gives what it has, as in browsers. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH })],
  ['br', () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH })],
])

/**
 * The first `maxBytes` of what is in `body` under its Content-Encoding.
 *
 * @throws {RangeError} when a coding is not known, or there are too many.
 */
export async function inflateBody(
  body: Uint8Array,
  { coding, maxBytes }: { readonly coding: string; readonly maxBytes: number },
): Promise<{ readonly body: Buffer; readonly truncated: boolean }> {
  const decoders = decodersOf(coding)
  const source = Readable.from([body], { objectMode: false })
  const last = decoders.at(-1) ?? source
  // An error of any part is one of the last part, and that is where it is heard of.
  if (decoders.length > 0) pipeline([source, ...decoders], () => undefined)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of last) {
    // NOTE: a body is a stream of bytes: no encoding is set on it.
    const bytes = chunk as Uint8Array
    chunks.push(bytes)
    size += bytes.byteLength
    if (size > maxBytes) break
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes }
}

function decodersOf(coding: string): readonly Transform[] {
  const names = coding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
  if (names.length > MAX_CODINGS || names.some((name) => !DECODERS.has(name))) {
    throw new RangeError(
      `Cannot read the content encoding ${JSON.stringify(coding)}: must be of gzip, deflate and br`,
    )
  }
  return names.toReversed().flatMap((name) => DECODERS.get(name)?.() ?? [])
}

function gunzip(): Transform {
  return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
}
