/**
 * The values of a stream, one a line.
 *
 * V1 A line is read when it is whole: in any pieces, with CR before LF or without it, and the last one also
 *    when no LF ends it. Blank lines are nothing.
 * V2 Any JSON is a value; what is no JSON is `{"raw": line}`; what is not UTF-8 is left out, and told of.
 * V3 The content type is not asked, but that of Server-Sent Events: there the data of an event is the line.
 */
import { LineSplitter } from './line-splitter.ts'
import { SseData } from './sse-data.ts'

/** How a stream is read. */
export interface StreamValuesOptions {
  readonly maxLineBytes: number
  /** Called for a line that is not UTF-8, with its length. */
  readonly onUnreadable: (bytes: number) => void
}

/**
 * The values as they arrive.
 *
 * @throws {AgentError} invalid_response for a line that is too long; what reading the body fails with.
 */
export async function* streamValues(
  response: Response,
  { maxLineBytes, onUnreadable }: StreamValuesOptions,
): AsyncGenerator {
  const lines = new LineSplitter(maxLineBytes)
  const events = isSse(response) ? new SseData(maxLineBytes) : undefined
  const textsOf = (line: Uint8Array): readonly string[] => {
    const text = textOf(line)
    if (text === undefined) onUnreadable(line.byteLength)
    if (text === undefined || events === undefined) return [text ?? '']
    return [events.add(text.replace(/\r$/, '')) ?? '']
  }
  for await (const bytes of response.body ?? []) {
    for (const line of lines.split(bytes)) for (const text of textsOf(line)) yield* valuesOf(text)
  }
  for (const text of textsOf(lines.rest())) yield* valuesOf(text)
  yield* valuesOf(events?.end() ?? '')
}

/** A value, or none for a text that is blank. */
function valuesOf(text: string): readonly unknown[] {
  const line = text.trim()
  if (line === '') return []
  try {
    return [JSON.parse(line)]
  } catch {
    return [{ raw: line }]
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function textOf(line: Uint8Array): string | undefined {
  try {
    return decoder.decode(line)
  } catch {
    return undefined
  }
}

function isSse({ headers }: Response): boolean {
  return /^\s*text\/event-stream\b/i.test(headers.get('content-type') ?? '')
}
