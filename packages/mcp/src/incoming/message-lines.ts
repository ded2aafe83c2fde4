/** Splits the stdout of a server into lines, within a limit. No I/O. */
const NEWLINE = 10

/** The lines of a stream. */
export class MessageLines {
  readonly #maxBytes: number
  #pieces: Uint8Array[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Text after the last line break. */
  get rest(): string {
    return Buffer.concat(this.#pieces).toString()
  }

  /**
   * Adds bytes; returns the lines that they complete.
   *
   * @throws {RangeError} when a line is longer than the limit.
   */
  add(piece: Uint8Array): readonly string[] {
    const lines: string[] = []
    let from = 0
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, from)) {
      this.#retain(piece.subarray(from, at))
      lines.push(this.take())
      from = at + 1
    }
    this.#retain(piece.subarray(from))
    return lines
  }

  /** Removes and returns the text after the last line break. */
  take(): string {
    const text = this.rest
    this.#pieces = []
    this.#bytes = 0
    return text
  }

  #retain(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.#bytes += piece.length
    if (this.#bytes > this.#maxBytes) throw new RangeError('A line is too long')
    this.#pieces.push(piece)
  }
}
