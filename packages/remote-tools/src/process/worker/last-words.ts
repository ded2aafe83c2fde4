/** What a program has said on stderr of late, for the error of the call that it fails. */

/** The end of a stack trace. */
const MAX_LINES = 20

/** The last lines of a stream. */
export class LastWords {
  #lines: string[] = []

  add(line: string): void {
    this.#lines.push(line)
    if (this.#lines.length > MAX_LINES) this.#lines.shift()
  }

  clear(): void {
    this.#lines = []
  }

  /** The lines; empty when there are none. */
  text(): string {
    return this.#lines.join('\n').trim()
  }
}
