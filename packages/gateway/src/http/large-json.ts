/**
 * Serializes large values piece by piece. Between two pieces the event loop runs, because serializing some megabytes at
 * once would delay every other request.
 */
import { readTurn } from '@tutti/runs/internal'

import type { LargeReads } from './large-reads.ts'

/** Number of characters of a piece. A longer text is one piece. */
const PIECE = 256_000

/** Number of characters that a value takes in addition to its texts. */
const PER_VALUE = 8

/** Returns the JSON of `value` in UTF-8. */
export async function largeJson(value: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Buffer<ArrayBuffer>[] = []
  let text = ''
  for (const piece of pieces(value)) {
    text += piece
    if (text.length < PIECE) continue
    parts.push(Buffer.from(text))
    text = ''
    await readTurn()
  }
  parts.push(Buffer.from(text))
  return Buffer.concat(parts)
}

/** Status of a response to a client that has disconnected. Source: nginx, 499. */
const CLIENT_CLOSED_REQUEST = 499

/** Builds a large answer in its turn and serializes it piece by piece. */
export async function largeResponse(
  reads: LargeReads,
  { signal }: Pick<Request, 'signal'>,
  build: () => Promise<object>,
): Promise<Response> {
  try {
    const body = await reads.run(async () => largeJson(await build()), signal)
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  } catch (error) {
    if (signal.aborted) return new Response(null, { status: CLIENT_CLOSED_REQUEST })
    throw error
  }
}

/** Yields the JSON of `value`: as a whole if it is small, otherwise entry by entry. */
function* pieces(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || remainingRoom(value, PIECE) >= 0) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  const isList = Array.isArray(value)
  let separator = isList ? '[' : '{'
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined && !isList) continue
    yield isList ? separator : `${separator}${JSON.stringify(key)}:`
    yield* pieces(part)
    separator = ','
  }
  yield isList ? ']' : '}'
}

/**
 * Returns the characters that remain of `limit` after `value`. Stops below zero, so that it takes no longer than a
 * piece.
 */
function remainingRoom(value: unknown, limit: number): number {
  if (typeof value === 'string') return limit - value.length - PER_VALUE
  let left = limit - PER_VALUE
  if (typeof value !== 'object' || value === null) return left
  for (const [key, part] of Object.entries(value)) {
    left = remainingRoom(part, left - key.length)
    if (left < 0) break
  }
  return left
}
