/** What arrives, for one reader that waits for it. */

/** A queue that can end with an error, once everything before it was read. */
export class Arrivals<Item> {
  readonly #items: Item[] = []
  #end: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined

  push(item: Item): void {
    this.#items.push(item)
    this.#wake?.()
  }

  /** Nothing comes any more; the first reason counts. */
  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  /** The next item, when it is there. One reader at a time. */
  async next(): Promise<Item> {
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) return item
      if (this.#end !== undefined) throw this.#end.error
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
