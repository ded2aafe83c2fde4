/**
 * Messages with exact integers, around the SDK, which parses and writes JSON by itself.
 *
 *   arguments ─raw JSON─▶ SDK ─▶ server ─▶ message with marks ─▶ SDK ─▶ message with `bigint`
 *
 * MCP-X1 The digits of each integer of the arguments are written as they are.
 * MCP-X2 `structuredContent` has a `bigint` for each integer beyond 2^53. Elsewhere, such as in schemas, numbers are
 *    those of `JSON.parse`.
 * MCP-X3 A message is within {@link MESSAGE_LIMITS}: nested so little that reading it cannot exceed the stack.
 */
import {
  markLongIntegers,
  mayHaveLongNumbers,
  toRawIntegers,
  unmarkValue,
  VALUE_LIMITS,
  type JsonLimits,
} from '@tutti/core/internal'

import type { JSONRPCMessage } from '@modelcontextprotocol/client'

/** Limits of the JSON of a message. */
export const MESSAGE_LIMITS: JsonLimits = { ...VALUE_LIMITS, maxDepth: 500 }

/** Returns arguments that `JSON.stringify` writes with all digits. */
export function toRawArguments(
  args: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  // NOTE: the copy of an object is an object.
  return toRawIntegers(args) as Readonly<Record<string, unknown>>
}

/** Replaces the marks of a message in place (MCP-X2), and returns the message. */
export function unmarkMessage(message: JSONRPCMessage): JSONRPCMessage {
  const { structuredContent } = 'result' in message ? message.result : {}
  unmarkValue(structuredContent, (integer) => integer)
  unmarkValue(message, Number)
  return message
}

/**
 * Parses the JSON of a message. Its integers beyond 2^53 are marks, which survive when the SDK parses the message again.
 * `problem` names a number that is too long or beyond the range of JavaScript; the value has `Infinity` for it then.
 *
 * @throws {SyntaxError} when the text is not JSON.
 */
export function parseMarked(text: string): { readonly value: unknown; readonly problem?: string } {
  if (!mayHaveLongNumbers(text)) return { value: JSON.parse(text) }
  try {
    return { value: JSON.parse(markLongIntegers(text)) }
  } catch (error) {
    const value: unknown = JSON.parse(text)
    return error instanceof RangeError ? { value, problem: error.message } : { value }
  }
}
