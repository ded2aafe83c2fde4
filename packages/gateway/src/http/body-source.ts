/**
 * Bytes of request bodies without a length.
 *
 * Each chunk of a body costs time, also one of a single byte: about a microsecond in Node's stream, ten times as much in a
 * web stream. So the stream of Node is read where the server has one.
 */
import type { Readable } from 'node:stream'

/** Maximum number of chunks of a body: 20 bytes each for a body of 1 MB. */
export const MAX_CHUNKS = 50_000

export interface BodyStart {
  /** The body, or its first `maxBytes` bytes at most. */
  readonly bytes: Uint8Array
  /** Number of bytes that were read. */
  readonly size: number
  /** Number of chunks that were read. */
  readonly chunks: number
}

const sources = new WeakMap<Request, Readable>()

/** Sets Node's stream of the body of a request, which must not have been read. */
export function setBodySource(request: Request, source: Readable): void {
  sources.set(request, source)
}

/**
 * Reads a body until it has more than `maxBytes` bytes or {@link MAX_CHUNKS} chunks. The rest is not read.
 *
 * @throws the error of the connection, when it breaks before the body ends.
 */
export async function readBodyStart(
  request: Request,
  maxBytes: number,
  { maxExcess = 0 }: { readonly maxExcess?: number } = {},
): Promise<BodyStart> {
  const body = new Body(maxBytes, maxBytes + maxExcess)
  const source = sources.get(request)
  if (source !== undefined) await readSource(source, body)
  else {
    for await (const chunk of request.body ?? []) if (!body.add(chunk)) break
  }
  return body.start
}

class Body {
  readonly #kept: Uint8Array[] = []
  readonly #maxBytes: number
  readonly #maxRead: number
  #size = 0
  #chunks = 0

  constructor(maxBytes: number, maxRead: number) {
    this.#maxBytes = maxBytes
    this.#maxRead = maxRead
  }

  get start(): BodyStart {
    return { bytes: Buffer.concat(this.#kept), size: this.#size, chunks: this.#chunks }
  }

  /** Adds a chunk and returns whether more is read. */
  add(chunk: Uint8Array): boolean {
    this.#size += chunk.length
    this.#chunks += 1
    if (this.#size <= this.#maxBytes && this.#chunks <= MAX_CHUNKS) this.#kept.push(chunk)
    return this.#size <= this.#maxRead && this.#chunks <= MAX_CHUNKS
  }
}

/** Reads a stream of Node. Does not destroy it, which would close the connection before its answer. */
function readSource(source: Readable, body: Body): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      source.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
    }
    const onData = (chunk: Uint8Array): void => {
      if (body.add(chunk)) return
      source.pause()
      onEnd()
    }
    const onEnd = (): void => {
      stop()
      resolve()
    }
    const onError = (error: Error): void => {
      stop()
      reject(error)
    }
    const onClose = (): void => {
      onError(new Error('the connection was closed'))
    }
    if (source.readableEnded) onEnd()
    else if (source.destroyed) onClose()
    else source.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}
