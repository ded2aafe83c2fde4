/** Map of a limited size. */

/** Map that drops its oldest entries when it exceeds its limit. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #max: number
  readonly #sizeOf: (value: Value) => number
  #total = 0

  /**
   * @param max maximum sum of the sizes of all values.
   * @param sizeOf returns the size of a value, always the same. The default is 1, so that `max` is a number of entries.
   */
  constructor(max: number, sizeOf: (value: Value) => number = () => 1) {
    this.#max = max
    this.#sizeOf = sizeOf
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  /** Returns the value of a key; undefined if it is unknown or forgotten. Only `set` counts as use. */
  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  /** Sets a value, which becomes the newest. A value that exceeds the limit alone is forgotten at once. */
  set(key: Key, value: Value): void {
    this.delete(key)
    this.#entries.set(key, value)
    this.#total += this.#sizeOf(value)
    // A map iterates in insertion order.
    for (const [oldest] of this.#entries) {
      if (this.#total <= this.#max) return
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    const value = this.#entries.get(key)
    // The value can be undefined.
    if (this.#entries.delete(key)) this.#total -= this.#sizeOf(value as Value)
  }
}
