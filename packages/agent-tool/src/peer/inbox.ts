/** What has arrived for one reader, in order, until it ends. */

/** A queue that is written by events and read as they come. */
export class Inbox<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = []
  #end: { readonly reason: unknown } | undefined
  #wake = Promise.withResolvers<void>()

  /** Adds an item, unless the inbox has ended. */
  add(item: Item): void {
    if (this.#end !== undefined) return
    this.#items.push(item)
    this.#wake.resolve()
  }

  /** Has the reader fail with `reason` when it has read what is there; the first reason counts. */
  end(reason: unknown): void {
    this.#end ??= { reason }
    this.#wake.resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, never> {
    for (;;) {
      // Nothing may come between the look that finds nothing and the wait.
      while (this.#items.length > 0) yield* this.#items.splice(0)
      if (this.#end !== undefined) throw this.#end.reason
      this.#wake = Promise.withResolvers()
      await this.#wake.promise
    }
  }
}
