/** Small text tools for tests. */
import { defineTextTool, type TextToolDefinition, type TypedTool } from '@tutti/core'

/** A text tool of that name; without a body it gives its input with `>name` behind. */
export function textTool(
  name: string,
  execute: TextToolDefinition['execute'] = (text) => `${text}>${name}`,
  settings: Partial<TextToolDefinition> = {},
): TypedTool<string> {
  return defineTextTool({ description: `Does ${name}`, ...settings, name, execute })
}

/** A text tool that throws. */
export function throwing(name: string, message = 'No network'): TypedTool<string> {
  return textTool(name, () => {
    throw new Error(message)
  })
}
