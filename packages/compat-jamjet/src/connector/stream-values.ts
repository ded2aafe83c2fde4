/**
 * Reads the values of a stream, one per line.
 *
 * JAM-SV1 A line is read when it is complete: in any pieces, with or without CR before LF, and the last one also
 *    without LF. Blank lines are ignored.
 * JAM-SV2 Any JSON is a value; a line that is not JSON is `{"raw": line}`; one that is not UTF-8 is skipped and
 *    reported.
 * JAM-SV3 With the content type of Server-Sent Events, the data of an event is the line. Other content types are
 *    ignored.
 * JAM-SV4 A line with too many values is not parsed, and ends the stream with `invalid_response`.
 */
import { assertAnswerSize } from '@tutti/agent-tool/internal'
import { LineSplitter } from './line-splitter.ts'
import { SseData } from './sse-data.ts'

/** Limits and callbacks of reading a stream. */
export interface StreamValuesOptions {
  readonly maxLineBytes: number
  /** Called for a line that is not UTF-8, with its length. */
  readonly onUnreadable: (bytes: number) => void
}

/**
 * Yields the values as they arrive.
 *
 * @throws {AgentError} invalid_response for a line that is too long; errors of reading the body.
 */
export async function* streamValues(
  response: Response,
  { maxLineBytes, onUnreadable }: StreamValuesOptions,
): AsyncGenerator {
  const lines = new LineSplitter(maxLineBytes)
  const events = isSse(response) ? new SseData(maxLineBytes) : undefined
  const textsOf = (line: Uint8Array): readonly string[] => {
    const text = decodeText(line)
    if (text === undefined) onUnreadable(line.byteLength)
    if (text === undefined || events === undefined) return [text ?? '']
    return [events.add(text.replace(/\r$/, '')) ?? '']
  }
  for await (const bytes of response.body ?? []) {
    for (const line of lines.split(bytes))
      for (const text of textsOf(line)) yield* parseValues(text)
  }
  for (const text of textsOf(lines.rest())) yield* parseValues(text)
  yield* parseValues(events?.end() ?? '')
}

/** Returns the value of a text, or none for a blank text. */
function parseValues(text: string): readonly unknown[] {
  const line = text.trim()
  if (line === '') return []
  assertAnswerSize(line)
  try {
    return [JSON.parse(line)]
  } catch {
    return [{ raw: line }]
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function decodeText(line: Uint8Array): string | undefined {
  try {
    return decoder.decode(line)
  } catch {
    return undefined
  }
}

function isSse({ headers }: Response): boolean {
  return /^\s*text\/event-stream\b/i.test(headers.get('content-type') ?? '')
}
