/**
 * Reads server-sent events from bytes. Deviates from the specification where services do: the last event needs no
 * empty line after it, and a line of JSON without a field name is data.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */

/** One event. */
export interface ServerEvent {
  /** Name of the event; empty when it has none. */
  readonly name: string
  /** Lines of its data. */
  readonly data: readonly string[]
}

/** Maximum length of one line, in characters. */
export const MAX_LINE_LENGTH = 32_000_000

/** Reads the events of `chunks`. Lines end with CR, LF or both. */
export async function* readServerEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent> {
  let name = ''
  let data: string[] = []
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield { name, data }
      name = ''
      data = []
      continue
    }
    const [field, value] = splitLine(line)
    if (field === 'event') name = value
    else if (field === 'data') data.push(value)
    else if (field === 'error') {
      // llama.cpp reports an error in the field `error`.
      yield { name: 'error', data: [value] }
    }
  }
  if (data.length > 0) yield { name, data }
}

function splitLine(line: string): readonly [field: string, value: string] {
  if (line.startsWith('{')) return ['data', line]
  const colon = line.indexOf(':')
  if (colon < 0) return [line, '']
  const value = line.slice(colon + 1)
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value]
}

/** Reads lines. A line that arrives in many chunks is joined once. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let parts: string[] = []
  let length = 0
  let endedWithCr = false
  for await (const bytes of chunks) {
    let text = decoder.decode(bytes, { stream: true })
    if (text === '') continue
    if (endedWithCr && text.startsWith('\n')) text = text.slice(1)
    endedWithCr = text.endsWith('\r')
    const [first = '', ...others] = text.split(/\r\n|\n|\r/)
    parts.push(first)
    length += first.length
    if (length > MAX_LINE_LENGTH) {
      throw new Error(`The service sent a line of more than ${MAX_LINE_LENGTH} characters`)
    }
    for (const other of others) {
      yield parts.join('')
      parts = [other]
      length = other.length
    }
  }
  yield parts.join('') + decoder.decode()
}
