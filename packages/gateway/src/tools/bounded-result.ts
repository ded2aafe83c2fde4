/** Pure: the result of a tool as an answer carries it, however long it is and whatever it holds. */
import { limitText, type ToolResult } from '@tutti/core'

import type { ToolInvocation } from '@tutti/protocol'

/** Characters of a text, and of the JSON of a value, in one answer: as much as a request may hold. */
export const MAX_ANSWER_LENGTH = 1_000_000

/**
 * What came of a call. Text that is too long is cut, and says how long it is in full. A value that is too
 * long, or is not JSON, is left out, and the text says so.
 */
export function limitResult(
  { success, output, errorMessage = '', structured }: ToolResult,
  maxLength: number = MAX_ANSWER_LENGTH,
): Pick<ToolInvocation, 'status' | 'output' | 'errorMessage' | 'structured'> {
  if (!success) return { status: 'FAILED', errorMessage: limitText(errorMessage, maxLength) }
  const text = limitText(output, maxLength)
  if (structured === undefined) return { status: 'SUCCESS', output: text }
  const json = toJsonOrUndefined(structured)
  if (json === undefined) return withoutValue(text, 'not JSON')
  if (json.length <= maxLength) return { status: 'SUCCESS', output: text, structured }
  return withoutValue(text, `${json.length} characters of JSON exceed the limit of ${maxLength}`)
}

function withoutValue(
  text: string,
  why: string,
): Pick<ToolInvocation, 'status' | 'output' | 'errorMessage'> {
  return { status: 'SUCCESS', output: `${text}\n[structured result omitted: ${why}]` }
}

/** Tools can return values that JSON cannot represent, such as cycles. */
function toJsonOrUndefined(value: unknown): string | undefined {
  try {
    const text: unknown = JSON.stringify(value)
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}
