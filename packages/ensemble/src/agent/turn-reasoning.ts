/** No I/O: the readable reasoning of one model call, up to a limit. */
import { countUtf8Bytes } from '../definition/template.ts'

/** Maximum size of the reasoning of one model call, in bytes; what follows is dropped. */
export const MAX_REASONING_BYTES = 262_144

/** Collects the reasoning of a model call. */
export class TurnReasoning {
  #text = ''
  #bytes = 0
  #isTruncated = false

  /** Reasoning so far; empty if the model has not sent any. */
  get text(): string {
    return this.#text
  }

  /** Whether reasoning beyond the limit was dropped. */
  get isTruncated(): boolean {
    return this.#isTruncated
  }

  /** Adds a piece, and returns the part of it that fits. */
  add(piece: string): string {
    if (this.#isTruncated) return ''
    const room = MAX_REASONING_BYTES - this.#bytes
    const bytes = countUtf8Bytes(piece)
    const taken = bytes <= room ? piece : takeBytes(piece, room)
    this.#isTruncated = taken !== piece
    this.#bytes += bytes
    this.#text += taken
    return taken
  }
}

/** Returns the longest start of `text` that has at most `maxBytes` bytes and does not split a character. */
function takeBytes(text: string, maxBytes: number): string {
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += countUtf8Bytes(character)
    if (bytes > maxBytes) break
    end += character.length
  }
  return text.slice(0, end)
}
