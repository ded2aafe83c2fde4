/** Lines of a stream of bytes, each up to a bound. */

/** Told of each line, without its end; `cut` when it was longer than the bound and is only its start. */
export type OnLine = (line: string, how: { readonly cut: boolean }) => void

const NEWLINE = 0x0a

/** Splits what comes at `\n`; a `\r` before it belongs to the end of the line. */
export class LineReader {
  readonly #maxBytes: number
  readonly #onLine: OnLine
  #parts: Uint8Array[] = []
  #bytes = 0
  /** The rest of a line that was too long is passed over. */
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

  /** The stream has ended: what is left is a line too. */
  end(): void {
    if (this.#bytes > 0) this.#endLine()
  }

  #take(part: Uint8Array): void {
    if (this.#skipping || part.length === 0) return
    const free = this.#maxBytes - this.#bytes
    this.#parts.push(part.length > free ? part.subarray(0, free) : part)
    this.#bytes += Math.min(part.length, free)
    if (part.length <= free) return
    this.#tell({ cut: true })
    this.#skipping = true
  }

  #endLine(): void {
    if (!this.#skipping) this.#tell({ cut: false })
    this.#skipping = false
  }

  #tell({ cut }: { readonly cut: boolean }): void {
    const text = new TextDecoder().decode(Buffer.concat(this.#parts), { stream: cut })
    this.#parts = []
    this.#bytes = 0
    this.#onLine(text.endsWith('\r') ? text.slice(0, -1) : text, { cut })
  }
}
