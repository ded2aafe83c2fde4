/** The chunks of an answer, as long as they fit. */

/** Characters of JSON that are kept: enough for a long answer, and little beside what an agent costs. */
export const MAX_KEPT_LENGTH = 262_144

/** Keeps the newest chunks, within {@link MAX_KEPT_LENGTH}. */
export class KeptChunks {
  readonly #kept: { readonly chunk: unknown; readonly length: number }[] = []
  #length = 0
  #count = 0

  /** How many came. */
  get count(): number {
    return this.#count
  }

  /** Those that are kept, in order. */
  get all(): readonly unknown[] {
    return this.#kept.map(({ chunk }) => chunk)
  }

  add(chunk: unknown): void {
    this.#count += 1
    const length = lengthOf(chunk)
    this.#kept.push({ chunk, length })
    this.#length += length
    while (this.#length > MAX_KEPT_LENGTH && this.#kept.length > 1) {
      this.#length -= this.#kept.shift()?.length ?? 0
    }
  }
}

function lengthOf(chunk: unknown): number {
  if (typeof chunk === 'string') return chunk.length
  try {
    // Not every value has JSON.
    const text: string | undefined = JSON.stringify(chunk)
    return text?.length ?? 0
  } catch {
    return 0
  }
}
