/**
 * A text that is streamed while it is written, over a protocol that cannot take back text. A turn that begins again is
 * sent only where it continues the text that was sent; another text follows after an empty line.
 */
export class SentText {
  /** Text of the newest turn. */
  #written = ''
  /** Text of the newest turn that has been sent. */
  #sent = ''
  #hasSent = false

  /** Text of the newest turn. */
  get written(): string {
    return this.#written
  }

  /** Begins a turn, or begins it again. */
  begin(): void {
    this.#written = ''
  }

  /** Ends a turn, so that the next text does not continue it. */
  end(): void {
    this.#sent = ''
  }

  /** Adds to the turn. Returns whether its text continues what was sent. */
  write(text: string): boolean {
    this.#written += text
    return this.#written.startsWith(this.#sent)
  }

  /** Marks `text` as sent, and returns the part of it that has not been. */
  send(text: string): string {
    if (!text.startsWith(this.#sent)) this.#sent = ''
    const gap = this.#sent === '' && this.#hasSent ? '\n\n' : ''
    const rest = text.slice(this.#sent.length)
    if (rest === '') return ''
    this.#sent = text
    this.#hasSent = true
    return `${gap}${rest}`
  }
}
