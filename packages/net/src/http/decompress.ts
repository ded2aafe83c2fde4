/** Decompresses bodies as streams, so that readers can count and limit the bytes. */
import { pipeline, Transform, type Readable, type TransformCallback } from 'node:stream'
import zlib from 'node:zlib'

/** Codings that requests accept. `deflate` is missing because it has two forms that only trying distinguishes. */
export const ACCEPTED_CODINGS = 'gzip, br'

/** Maximum number of codings of one body: more than one is unusual, and each costs memory. */
const MAX_CODINGS = 3

/** Creates the decoder of a coding for a body that starts with a piece. */
type CreateDecoder = (first: Uint8Array) => Transform

/** Decoders by name of the coding. A body that ends early fails. */
const DECODERS: ReadonlyMap<string, CreateDecoder> = new Map<string, CreateDecoder>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', (first) => (isZlib(first) ? zlib.createInflate() : zlib.createInflateRaw())],
  ['br', () => zlib.createBrotliDecompress()],
])

/**
 * Returns whether the bytes start with the header of the zlib format. Some servers send `deflate` without it.
 *
 * @see https://www.rfc-editor.org/rfc/rfc1950#section-2.2
 */
function isZlib([first = 0, second]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (second === undefined || (first * 256 + second) % 31 === 0)
}

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
  return codings.toReversed().flatMap((coding) => {
    const create = DECODERS.get(coding)
    return create === undefined ? [] : [new BodyDecoder(create)]
  })
}

/** Decodes a body. An empty body, such as that of a response to HEAD, stays empty. */
class BodyDecoder extends Transform {
  readonly #create: CreateDecoder
  #decoder: Transform | undefined

  constructor(create: CreateDecoder) {
    super()
    this.#create = create
  }

  override _transform(piece: Uint8Array, _: BufferEncoding, done: TransformCallback): void {
    if (piece.length === 0) {
      done()
      return
    }
    this.#decoder ??= this.#start(piece)
    this.#decoder.write(piece, (error) => {
      // `destroy` reports the error.
      if (error === null || error === undefined) done()
    })
  }

  override _flush(done: TransformCallback): void {
    if (this.#decoder === undefined) done()
    else this.#decoder.once('end', () => done()).end()
  }

  override _read(size: number): void {
    this.#decoder?.resume()
    super._read(size)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#decoder?.destroy()
    done(error)
  }

  #start(first: Uint8Array): Transform {
    const decoder = this.#create(first)
    decoder.on('data', (piece: Uint8Array) => {
      if (!this.push(piece)) decoder.pause()
    })
    decoder.on('error', (error) => {
      this.destroy(error)
    })
    return decoder
  }
}
