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

  /** Begins a turn, or begins it again; `before` is the text that the turn continues. */
  begin(before = ''): void {
    this.#written = before
  }

  /** Ends a turn, so that the next text does not continue it. */
  end(): void {
    this.#sent = ''
  }

  /** Whether the text of the turn continues what was sent. */
  get continues(): boolean {
    return this.#written.startsWith(this.#sent)
  }

  /** Adds to the turn. */
  write(text: string): void {
    this.#written += text
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
