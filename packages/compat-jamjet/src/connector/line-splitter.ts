/** Splits bytes into lines as they arrive. */
import { AgentError } from '@tutti/agent-call/internal'

const LINE_FEED = 0x0a

/** Splits at line feeds, so a character split across pieces stays intact. */
export class LineSplitter {
  readonly #maxBytes: number
  #pieces: Uint8Array[] = []
  #size = 0

  /** @param maxBytes - of a line, without its line feed */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * Yields the lines that end in `bytes`, without their line feeds.
   *
   * @throws {AgentError} invalid_response as soon as a line is too long.
   */
  *split(bytes: Uint8Array): Generator<Uint8Array> {
    let from = 0
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
      this.#add(bytes.subarray(from, at))
      from = at + 1
      yield this.#take()
    }
    this.#add(bytes.subarray(from))
  }

  /** Returns the bytes after the last line feed, at the end of the stream. */
  rest(): Uint8Array {
    return this.#take()
  }

  #add(piece: Uint8Array): void {
    this.#size += piece.byteLength
    if (this.#size > this.#maxBytes) {
      const message = `The agent sent a line of more than ${this.#maxBytes} bytes`
      throw new AgentError(message, { failureType: 'invalid_response', retryable: false })
    }
    if (piece.byteLength > 0) this.#pieces.push(piece)
  }

  #take(): Uint8Array {
    const [first = new Uint8Array()] = this.#pieces
    const line = this.#pieces.length > 1 ? Buffer.concat(this.#pieces) : first
    this.#pieces = []
    this.#size = 0
    return line
  }
}
