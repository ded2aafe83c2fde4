const NEWLINE = 10
const RETURN = 13

/**
 * Counts the bytes of the current message of a body: those since the last blank line in an event stream, all bytes in
 * another body.
 */
export class MessageSize {
  readonly #isStream: boolean
  #bytes = 0
  #isBlankLine = true

  constructor(isStream: boolean) {
    this.#isStream = isStream
  }

  /** Adds a piece; returns the size of the longest message that continues or ends in it, in bytes. */
  add(piece: Uint8Array): number {
    if (!this.#isStream) return (this.#bytes += piece.length)
    let longest = 0
    for (let from = 0; from < piece.length;) {
      const at = piece.indexOf(NEWLINE, from)
      const end = at === -1 ? piece.length : at
      const isBlank = end === from || (end === from + 1 && piece[from] === RETURN)
      this.#isBlankLine &&= isBlank
      this.#bytes += end - from
      longest = Math.max(longest, this.#bytes)
      if (at === -1) break
      if (this.#isBlankLine) this.#bytes = 0
      this.#isBlankLine = true
      from = at + 1
    }
    return longest
  }
}
