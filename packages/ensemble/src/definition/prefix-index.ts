/** Texts in their order, to find those that begin another text without comparing it with all. No I/O. */
import { countWhere } from './count-where.ts'

/** Finds the texts that begin another one. */
export class PrefixIndex<Value> {
  readonly #entries: readonly (readonly [string, Value])[]
  /** Index of the longest other text that begins each text; -1 if none does. */
  readonly #parents: readonly number[]

  /** @param entries texts with their values. Of equal texts, the first one counts. */
  constructor(entries: Iterable<readonly [string, Value]>) {
    const byText = new Map<string, Value>()
    for (const [text, value] of entries) if (!byText.has(text)) byText.set(text, value)
    this.#entries = [...byText].toSorted(([one], [other]) => (one < other ? -1 : 1))
    const parents: number[] = []
    for (const [index, [text]] of this.#entries.entries()) {
      let parent = index - 1
      while (parent >= 0 && !text.startsWith(this.#textAt(parent))) parent = parents[parent] ?? -1
      parents.push(parent)
    }
    this.#parents = parents
  }

  /** Returns the values of the texts that begin this one, the longest first. */
  *find(text: string): Generator<Value> {
    // The last text before this one begins with each text that begins this one.
    let at = countWhere(this.#entries, ([one]) => one <= text) - 1
    for (; at >= 0; at = this.#parents[at] ?? -1) {
      const entry = this.#entries[at]
      if (entry !== undefined && text.startsWith(entry[0])) yield entry[1]
    }
  }

  #textAt(index: number): string {
    return this.#entries[index]?.[0] ?? ''
  }
}
