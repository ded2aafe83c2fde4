/** Short digests of texts and JSON values, to recognize equal ones. */
import { isJsonObject, toPlainJson } from '@tutti/protocol/internal'

import { computeSha256 } from './sha256.ts'

/** Number of hexadecimal digits of a digest: 64 bits. */
const DIGEST_LENGTH = 16

/** Returns the first 16 hexadecimal digits of the SHA-256 of `text`. */
export function computeDigest(text: string): string {
  return computeSha256(text).slice(0, DIGEST_LENGTH)
}

/** Returns the digest of a JSON value; equal values have equal digests, also if the order of their keys differs. */
export function computeJsonDigest(value: unknown): string {
  return computeDigest(formatCanonicalJson(value))
}

/**
 * Returns a JSON value as text with sorted keys. Values that JSON cannot express count as null or are left out; integers
 * that a number cannot hold are text.
 */
export function formatCanonicalJson(value: unknown): string {
  return JSON.stringify(toPlainJson(value), sortKeys) ?? 'null'
}

function sortKeys(_: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const keys = Object.keys(value)
  if (keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key)) return value
  return Object.fromEntries(keys.toSorted().map((key) => [key, value[key]]))
}
