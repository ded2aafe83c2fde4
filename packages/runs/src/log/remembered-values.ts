/** Values of one run in memory, by key, with a limited total size. */
import { BoundedMap } from '@tutti/protocol/basics'

/** Maximum total size, in characters. A conversation repeats 20 messages of up to 2,000 characters. */
const MAX_SIZE = 500_000

interface Remembered<V> {
  readonly value: V
  readonly size: number
}

/** Values by key. When they become too large, those that were used longest ago are forgotten. */
export class RememberedValues<V> {
  readonly #values = new BoundedMap<string, Remembered<V>>(MAX_SIZE, ({ size }) => size)
  readonly #unconfirmed: string[] = []

  /** Returns a value, which counts as use. */
  find(key: string): V | undefined {
    const found = this.#values.get(key)
    if (found === undefined) return undefined
    this.#values.set(key, found)
    return found.value
  }

  /** Adds a value that is not confirmed yet. */
  add(key: string, value: V, size: number): void {
    this.#values.set(key, { value, size })
    this.#unconfirmed.push(key)
  }

  /** Confirms the values added so far. */
  confirm(): void {
    this.#unconfirmed.length = 0
  }

  /** Forgets the values added since the last confirmation. */
  forgetUnconfirmed(): void {
    for (const key of this.#unconfirmed) this.#values.delete(key)
    this.#unconfirmed.length = 0
  }
}
