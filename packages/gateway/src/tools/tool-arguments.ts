/** Pure: converts the input of a direct call to the arguments of its tool. */
import type { AgentTool } from '@tutti/core'
import { errorMessage, parseExactJson } from '@tutti/core/internal'

import type { Problem } from '@tutti/protocol/internal'

/** Input of a direct call: text, or an object. */
export type GivenInput = string | Readonly<Record<string, unknown>>

/** Arguments, or their problems. */
export type ToolArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/**
 * Converts the input of one call. A text tool accepts text unchanged; a typed tool accepts an object, or its JSON as
 * text. The object is not validated against the schema of the tool.
 */
export function toInvocationArguments(
  { name, kind }: Pick<AgentTool, 'name' | 'kind'>,
  input: GivenInput,
): ToolArguments {
  if (typeof input !== 'string' || kind === 'text') return { ok: true, value: input }
  const refuse = (why: string): ToolArguments => {
    const message = `must be an object, the input of tool "${name}", or its JSON text: ${why}`
    return { ok: false, problems: [{ path: '', message, expected: 'object' }] }
  }
  try {
    const value = parseExactJson(input)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? { ok: true, value } : refuse(`the text is JSON of ${describeType(value)}`)
  } catch (error) {
    return refuse(`the text is not JSON (${errorMessage(error)})`)
  }
}

function describeType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
