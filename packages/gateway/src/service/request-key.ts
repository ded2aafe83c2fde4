/** Pure: texts of any length and content as keys that every store takes. */
import { createHash } from 'node:crypto'

/** The key under which a request of a peer is recognised when it is sent again. */
export function toRequestKey(from: string, requestId: string): string {
  return `peer-${digest([from, requestId])}`
}

/** Fields that runs share when the result of one may answer for the other. */
export interface CacheScope {
  readonly ensemble: string
  /** The key that the peer chose. */
  readonly cacheKey: string
  /** Name of the actor: no actor is given the result of another. */
  readonly actor?: string
}

/** The key of the runs whose results answer for each other. */
export function toCacheKey({ ensemble, cacheKey, actor }: CacheScope): string {
  return digest([ensemble, cacheKey, ...(actor === undefined ? [] : [actor])])
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
