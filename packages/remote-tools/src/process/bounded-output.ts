/** What a program has written, as far as it is kept. */

/** Keeps the first bytes of a stream and drops the rest. */
export class BoundedOutput {
  readonly #maxBytes: number
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  #dropped = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(chunk: Uint8Array): void {
    const free = this.#maxBytes - this.#bytes
    if (chunk.length > free) this.#dropped = true
    if (free <= 0) return
    const kept = chunk.length > free ? chunk.subarray(0, free) : chunk
    this.#chunks.push(kept)
    this.#bytes += kept.length
  }

  /**
   * The text without blanks at its ends. Bytes that are no UTF-8 are U+FFFD; a character that the bound
   * cuts in two is left out, and a line says that and where it was cut.
   */
  text(): string {
    const text = new TextDecoder()
      .decode(Buffer.concat(this.#chunks), { stream: this.#dropped })
      .trim()
    return this.#dropped ? `${text}\n[output truncated at ${this.#maxBytes} bytes]` : text
  }
}
