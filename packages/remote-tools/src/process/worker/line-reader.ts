/** Called with each line, without its line break. With `cut`, the line exceeded the limit and is only its start. */
export type OnLine = (line: string, how: { readonly cut: boolean }) => void

const NEWLINE = 0x0a

/** Splits a byte stream into lines of limited length. Lines end with `\n` or `\r\n`. */
export class LineReader {
  readonly #maxBytes: number
  readonly #onLine: OnLine
  #parts: Uint8Array[] = []
  #bytes = 0
  /** Whether the rest of a line that was too long is being skipped. */
  #skipping = false

  constructor(maxBytes: number, onLine: OnLine) {
    this.#maxBytes = maxBytes
    this.#onLine = onLine
  }

  add(chunk: Uint8Array): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end))
      this.#endLine()
      start = end + 1
    }
    this.#take(chunk.subarray(start))
  }

  /** Ends the stream; the remaining bytes are a line too. */
  end(): void {
    if (this.#bytes > 0) this.#endLine()
  }

  #take(part: Uint8Array): void {
    if (this.#skipping || part.length === 0) return
    const free = this.#maxBytes - this.#bytes
    this.#parts.push(part.length > free ? part.subarray(0, free) : part)
    this.#bytes += Math.min(part.length, free)
    if (part.length <= free) return
    this.#emit({ cut: true })
    this.#skipping = true
  }

  #endLine(): void {
    if (!this.#skipping) this.#emit({ cut: false })
    this.#skipping = false
  }

  #emit({ cut }: { readonly cut: boolean }): void {
    const text = new TextDecoder().decode(Buffer.concat(this.#parts), { stream: cut })
    this.#parts = []
    this.#bytes = 0
    this.#onLine(text.endsWith('\r') ? text.slice(0, -1) : text, { cut })
  }
}
