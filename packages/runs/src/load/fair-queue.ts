/**
 * Queue that is fair to keys, and within a key to connections. No I/O.
 *
 * RUNS-FL1 Keys take turns, and within a key its connections take turns. The items of one connection leave in order.
 */
import type { WorkSource } from './work-source.ts'

/** Identifies the key and the connection of an item. */
export interface QueueSource extends Pick<WorkSource, 'key'> {
  /** Connection over which the request came, or its number. */
  readonly connection: unknown
}

/** Items that wait for a resource; one gets it at a time. */
export class FairQueue<T> {
  /** Waiting items by key and connection. A map iterates in insertion order, so the first key is next. */
  readonly #keys = new Map<string, Map<unknown, T[]>>()
  #size = 0

  /** Number of items. */
  get size(): number {
    return this.#size
  }

  /** Adds an item. */
  push({ key, connection }: QueueSource, item: T): void {
    const connections = this.#keys.get(key) ?? new Map<unknown, T[]>()
    const items = connections.get(connection) ?? []
    items.push(item)
    this.#size += 1
    connections.set(connection, items)
    this.#keys.set(key, connections)
  }

  /** Removes and returns the next item of a key that may have one; undefined when none waits. */
  shift(mayHave: (key: string) => boolean = () => true): T | undefined {
    for (const [key, connections] of this.#keys) {
      const [next] = connections
      if (next === undefined || !mayHave(key)) continue
      const [connection, items] = next
      const item = items.shift()
      this.#size -= 1
      connections.delete(connection)
      if (items.length > 0) connections.set(connection, items)
      this.#keys.delete(key)
      if (connections.size > 0) this.#keys.set(key, connections)
      return item
    }
    return undefined
  }
}
