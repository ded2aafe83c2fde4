/** The body of an answer, as far as it was read. */
export interface ReadBody {
  readonly bytes: Uint8Array
  /** Whether it goes on after what is here. */
  readonly truncated: boolean
}

/** Reads a body, at most `maxBytes` of it; the rest is not read, and its connection is closed. */
export async function readBody(response: Response, maxBytes: number): Promise<ReadBody> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    pieces.push(piece)
    size += piece.byteLength
    if (size > maxBytes) break
  }
  return { bytes: Buffer.concat(pieces).subarray(0, maxBytes), truncated: size > maxBytes }
}
