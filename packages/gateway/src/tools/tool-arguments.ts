/** Pure: from the input of a direct call to the arguments of its tool. */
import { errorMessage, type AgentTool } from '@tutti/core'

import type { Problem } from '@tutti/protocol'

/** What a tool is given by hand: text, or an object. */
export type GivenInput = string | Readonly<Record<string, unknown>>

/** The arguments, or what is wrong with them. */
export type ToolArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/**
 * The arguments of one call. A text tool takes text as it is; a typed tool takes an object, or text that
 * is the JSON of one. Whether an object fits the schema of the tool is not looked at.
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
    const value: unknown = JSON.parse(input)
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
