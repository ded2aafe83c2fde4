/** Reads the data of Server-Sent Events. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
import { AgentError } from '@tutti/agent-call/internal'

/** Converts lines to the data of events; names, ids and comments are ignored. */
export class SseData {
  readonly #maxLength: number
  #lines: string[] = []
  #length = 0

  /** @param maxLength - of the data of one event, in UTF-16 units */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /**
   * Adds a line; returns the data of the event that it ends, or undefined.
   *
   * @throws {AgentError} invalid_response when the data is too long.
   */
  add(line: string): string | undefined {
    if (line === '') return this.end()
    const [, data] = /^data(?:: ?(.*))?$/s.exec(line) ?? []
    if (!line.startsWith('data') || (data === undefined && line !== 'data')) return undefined
    this.#lines.push(data ?? '')
    this.#length += line.length
    if (this.#length <= this.#maxLength) return undefined
    const message = `The agent sent an event of more than ${this.#maxLength} characters`
    throw new AgentError(message, { failureType: 'invalid_response', retryable: false })
  }

  /** Returns the data of an event that the end of the stream cuts off. */
  end(): string | undefined {
    const data = this.#lines.join('\n')
    this.#lines = []
    this.#length = 0
    return data === '' ? undefined : data
  }
}
