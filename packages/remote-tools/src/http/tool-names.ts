/** Creates valid tool names from foreign names. Pure. */

/** Maximum length of a tool name. */
const MAX_LENGTH = 64

/** Creates unique names. */
export class ToolNames {
  readonly #taken = new Set<string>()

  /**
   * Returns a valid name close to `preferred`: invalid characters become `_`, a long name is cut, and a duplicate gets a
   * number.
   */
  take(preferred: string): string {
    const clean = preferred.replaceAll(/[^\w-]+/g, '_').replaceAll(/^_+|_+$/g, '') || 'tool'
    let name = clean.slice(0, MAX_LENGTH)
    for (let number = 2; this.#taken.has(name); number += 1) {
      const suffix = `_${number}`
      name = clean.slice(0, MAX_LENGTH - suffix.length) + suffix
    }
    this.#taken.add(name)
    return name
  }
}
