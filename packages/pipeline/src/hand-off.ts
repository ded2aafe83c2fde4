/**
 * Converts the result of one tool to the input of another. Pure.
 *
 * PIPE-H1 A text tool receives the text of the result; any other tool receives its structured value.
 * PIPE-H2 Text for a tool that is not a text tool is parsed if it is a JSON object or array. Other text is passed on,
 *    and the tool reports the problem.
 * PIPE-H3 A tool that declares a value but returned text has failed: there is no value to pass on.
 */
import { ToolResult, type AgentTool } from '@tutti/core'
import { formatExactJson, parseExactJson } from '@tutti/core/internal'
import { allowsText } from './schema/allows-text.ts'

/** Value to pass on, or why there is none. */
export type HandOff =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string }

/** Returns the value of a successful result: its structured value if it has one, otherwise its text. */
export function toValue(result: ToolResult, tool: AgentTool): HandOff {
  const { output, structured } = result
  const { outputSchema } = tool
  if (structured !== undefined) return { ok: true, value: structured }
  if (outputSchema === undefined || allowsText(outputSchema)) return { ok: true, value: output }
  const message = `Tool "${tool.name}" returned text instead of the value that it declares as output`
  return { ok: false, message }
}

/** Converts a successful result to the input of the next tool. */
export function handOff(result: ToolResult, tool: AgentTool, next: AgentTool): HandOff {
  if (next.kind === 'text') return { ok: true, value: result.output }
  const value = toValue(result, tool)
  return value.ok ? { ok: true, value: toToolInput(next, value.value) } : value
}

/** Converts a value to the input of a tool: to text for a text tool. */
export function toToolInput(tool: AgentTool, value: unknown): unknown {
  if (tool.kind === 'text') return toText(value)
  return typeof value === 'string' ? parseIfJson(value) : value
}

/** Converts a value to text: a string stays, other values become JSON, `undefined` and `null` an empty text. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  // Some values have no JSON form, such as functions.
  return formatExactJson(value) ?? ''
}

/** Parses a text that is a JSON object or array. Returns any other text unchanged. */
export function parseIfJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return parseExactJson(text)
  } catch {
    return text
  }
}

/** Creates the result of a tool that returns a value: the text of the result is the string, or the JSON of the value. */
export function createValueResult(value: unknown): ToolResult {
  return typeof value === 'string'
    ? ToolResult.success(value)
    : ToolResult.success(toText(value), value)
}
