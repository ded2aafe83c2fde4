/** Limits the size of tags. */
import { assertNoProblems } from './refusals.ts'

import type { TagMap } from '@tutti/protocol/internal'

/** Maximum size of all tag names and values of a run or a thread, in bytes of UTF-8. A list has up to 1000. */
const MAX_TAG_BYTES = 16_384

/** @throws {TuttiError} BAD_REQUEST when tags are too large. */
export function assertTagSize(tags: Readonly<TagMap>): void {
  const texts = Object.entries(tags).flatMap(([name, value]) => [name, String(value)])
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes <= MAX_TAG_BYTES) return
  const message = `must have at most ${MAX_TAG_BYTES} bytes, names and values together, got ${bytes}`
  assertNoProblems('/tags', [{ path: '', message }])
}
