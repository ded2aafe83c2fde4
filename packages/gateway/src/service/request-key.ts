/** Pure: hashes texts of any length and content to keys that every store accepts. */
import { hash } from 'node:crypto'

/** Returns the idempotency key of a request of a peer. */
export function toRequestKey(from: string, requestId: string): string {
  return `peer-${digest([from, requestId])}`
}

/** Fields that runs have in common if one's result can be returned for the other. */
export interface CacheScope {
  readonly ensemble: string
  /** Key that the peer chose. */
  readonly cacheKey: string
  /** Name of the actor; an actor never receives the result of another. */
  readonly actor?: string
}

/** Returns the cache key of runs. */
export function toCacheKey({ ensemble, cacheKey, actor }: CacheScope): string {
  return digest([ensemble, cacheKey, ...(actor === undefined ? [] : [actor])])
}

/** Returns the cache key of the runs of a chat; two callers can use the same id for different chats. */
export function toChatKey(chatId: string, actor: string | undefined): string {
  return digest(['chat', chatId, ...(actor === undefined ? [] : [actor])])
}

function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts))
}
