/** Pure: limits the result of a tool to the size of an answer. */
import type { ToolResult } from '@tutti/core'
import { limitText } from '@tutti/core/internal'

import type { ToolInvocation } from '@tutti/protocol/internal'

/** Maximum number of characters of a text, and of the JSON of a value, in an answer. */
export const MAX_ANSWER_LENGTH = 1_000_000

/**
 * Limits a result. A long text is cut and gets its full length as a suffix. A value that is too long or not JSON is
 * omitted, with a note in the text.
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

/** Returns the JSON of a value; undefined for values without JSON, such as cycles. */
function toJsonOrUndefined(value: unknown): string | undefined {
  try {
    const text: unknown = JSON.stringify(value)
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}
