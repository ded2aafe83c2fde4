/** Retains the chunks of an answer within a limit. */
import { toJsonText } from './json-text.ts'

/** Maximum number of characters of JSON to retain: enough for a long answer, and cheap compared to an agent. */
export const MAX_BUFFERED_LENGTH = 262_144

/** Retains the newest chunks, up to {@link MAX_BUFFERED_LENGTH}, and counts all of them. */
export class ChunkBuffer {
  readonly #chunks: { readonly chunk: unknown; readonly length: number }[] = []
  #length = 0
  #count = 0

  /** Number of chunks that were added. */
  get count(): number {
    return this.#count
  }

  /** The retained chunks, in order. */
  get all(): readonly unknown[] {
    return this.#chunks.map(({ chunk }) => chunk)
  }

  add(chunk: unknown): void {
    this.#count += 1
    const length = jsonLength(chunk)
    this.#chunks.push({ chunk, length })
    this.#length += length
    while (this.#length > MAX_BUFFERED_LENGTH && this.#chunks.length > 1) {
      this.#length -= this.#chunks.shift()?.length ?? 0
    }
  }
}

function jsonLength(chunk: unknown): number {
  try {
    return toJsonText(chunk).length
  } catch {
    return 0
  }
}
