/** JSON texts of values: for models, and in one canonical form for comparing and hashing. */
import { formatExactJson, toPlainJson } from '@tutti/core/internal'

/** Returns a string as it is, and any other value as JSON; a value that has no JSON is empty. */
export function toJsonText(value: unknown): string {
  if (typeof value === 'string') return value
  return formatExactJson(value) ?? ''
}

/**
 * Returns compact JSON with the keys of objects sorted by code points, which is the order of their UTF-8 bytes:
 * equal values have equal texts. `undefined` becomes null.
 *
 * @throws {TypeError} for a value that has no JSON, such as one that contains itself.
 */
export function sortedJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(toPlainJson(value))
  return text === undefined ? 'null' : toSortedText(JSON.parse(text))
}

/** Returns the SHA-256 of {@link sortedJson}, in hex. */
export async function hashInput(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(sortedJson(value))
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** JavaScript puts keys such as "10" first, so the text is assembled from sorted entries. */
function toSortedText(json: unknown): string {
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  if (Array.isArray(json)) return `[${json.map(toSortedText).join(',')}]`
  const members = Object.entries(json)
    .toSorted(([a], [b]) => compareCodePoints(a, b))
    .map(([key, value]) => `${JSON.stringify(key)}:${toSortedText(value)}`)
  return `{${members.join(',')}}`
}

function compareCodePoints(a: string, b: string): number {
  const [left, right] = [[...a], [...b]]
  const at = left.findIndex((character, index) => character !== right[index])
  if (at === -1) return left.length - right.length
  return (left[at]?.codePointAt(0) ?? -1) - (right[at]?.codePointAt(0) ?? -1)
}
