/**
 * From the result of one tool to the input of another. Pure.
 *
 * H1 A text tool takes the text of the result; any other tool its structured value.
 * H2 Text for a tool that is no text tool is read as JSON where it spells an object or a list, and is
 *    handed on as it is otherwise: the tool says what is wrong with it.
 * H3 A tool that declares a value and returned text broke its word, and nothing is handed on.
 */
import { ToolResult, type AgentTool } from '@tutti/core'
import { allowsText } from './schema/allows-text.ts'

/** What is handed on, or why nothing is. */
export type HandOff =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string }

/** The value of a result that worked: structured where there is one, else its text. */
export function valueOf(result: ToolResult, tool: AgentTool): HandOff {
  const { output, structured } = result
  const { outputSchema } = tool
  if (structured !== undefined) return { ok: true, value: structured }
  if (outputSchema === undefined || allowsText(outputSchema)) return { ok: true, value: output }
  const message = `Tool "${tool.name}" returned text in place of the value that it declares as output`
  return { ok: false, message }
}

/** What the next tool is handed of a result that worked. */
export function handOff(result: ToolResult, tool: AgentTool, next: AgentTool): HandOff {
  if (next.kind === 'text') return { ok: true, value: result.output }
  const handed = valueOf(result, tool)
  return handed.ok ? { ok: true, value: inputFor(next, handed.value) } : handed
}

/** A value in the form that a tool takes: text for a text tool. */
export function inputFor(tool: AgentTool, value: unknown): unknown {
  if (tool.kind === 'text') return textOf(value)
  return typeof value === 'string' ? readJson(value) : value
}

/** A value as text: itself, or its JSON; nothing is empty text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  // Not every value is JSON: a function, for one, has no text.
  const text: string | undefined = JSON.stringify(value)
  return text ?? ''
}

/** The object or list that a text spells in JSON, or the text. */
export function readJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return text
  }
}

/** The result of a tool that gives a value: its JSON is the text, and text is text. */
export function valueResult(value: unknown): ToolResult {
  return typeof value === 'string'
    ? ToolResult.success(value)
    : ToolResult.success(textOf(value), value)
}
