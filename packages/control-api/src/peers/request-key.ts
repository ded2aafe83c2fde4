/** Pure: texts of any length and content as keys that every store takes. */
import { createHash } from 'node:crypto'

/** The key under which a request of a peer is recognised when it is sent again. */
export function requestKey(from: string, requestId: string): string {
  return `peer-${digest([from, requestId])}`
}

/** The tag value of the runs whose results answer for each other. */
export function cacheTag(ensemble: string, cacheKey: string): string {
  return digest([ensemble, cacheKey])
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
