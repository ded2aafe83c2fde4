/** Names for tools whose names elsewhere follow other rules. Pure. */

/** As the tool contract has it. */
const MAX_LENGTH = 64

/** Gives out names, each once. */
export class ToolNames {
  readonly #taken = new Set<string>()

  /**
   * A name near the one that is wished for: runs of other characters become one `_`, what is too long
   * is cut, and a second tool of the same name gets a number.
   */
  take(wished: string): string {
    const clean = wished.replaceAll(/[^\w-]+/g, '_').replaceAll(/^_+|_+$/g, '') || 'tool'
    let name = clean.slice(0, MAX_LENGTH)
    for (let number = 2; this.#taken.has(name); number += 1) {
      const suffix = `_${number}`
      name = clean.slice(0, MAX_LENGTH - suffix.length) + suffix
    }
    this.#taken.add(name)
    return name
  }
}
