/**
 * Replaces the messages in an event stream of a server by those that `IncomingMessages` reads from them. Everything
 * else, such as ids and names of events, is passed on. No I/O.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */

/** Converts the data of a message event to those of none, one or several message events. */
export type ReadEventData = (data: string) => readonly string[]

const RETURN = 13

/** Converts the pieces of one event stream. */
export class EventStreamMessages {
  readonly #read: ReadEventData
  readonly #decoder = new TextDecoder()
  /** Pieces of the current line. */
  #line: string[] = []
  /** Whether the last character was a return, which a line feed may follow. */
  #endsWithReturn = false
  #fields: string[] = []
  #data: string[] = []
  #isMessage = true
  /** Whether an event had an id, so that the stream can be resumed. */
  hasIds = false

  constructor(read: ReadEventData) {
    this.#read = read
  }

  /** Returns the text for the SDK that a piece completes; empty when it completes no event. */
  add(piece: Uint8Array): string {
    let text = this.#decoder.decode(piece, { stream: true })
    if (text === '') return ''
    if (this.#endsWithReturn && text.startsWith('\n')) text = text.slice(1)
    this.#endsWithReturn = piece.at(-1) === RETURN
    const [first = '', ...others] = text.split(/\r\n|\n|\r/)
    this.#line.push(first)
    return others.map((next) => this.#addLine(this.#startLine(next))).join('')
  }

  /** Starts a line; returns the one before. */
  #startLine(start: string): string {
    const line = this.#line.join('')
    this.#line = [start]
    return line
  }

  #addLine(line: string): string {
    if (line === '') return this.#endEvent()
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (name === 'data') {
      this.#data.push(value)
      return ''
    }
    if (name === 'event') this.#isMessage = value === '' || value === 'message'
    if (name === 'id' && value !== '') this.hasIds = true
    this.#fields.push(line)
    return ''
  }

  #endEvent(): string {
    const [fields, data, isMessage] = [this.#fields, this.#data, this.#isMessage]
    this.#fields = []
    this.#data = []
    this.#isMessage = true
    const text = data.join('\n')
    const isRead = isMessage && text !== ''
    const events = isRead ? this.#read(text) : data.length === 0 ? [] : [text]
    const head = fields.map((field) => `${field}\n`).join('')
    const [first, ...more] = events
    const toLines = (event: string): string =>
      event
        .split('\n')
        .map((one) => `data: ${one}\n`)
        .join('')
    // An event without data still carries its id and the time until a reconnection.
    const start = `${head}${first === undefined ? '' : toLines(first)}\n`
    return start + more.map((event) => `${toLines(event)}\n`).join('')
  }
}
