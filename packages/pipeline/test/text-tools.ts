/** Small text tools for tests. */
import { defineTextTool, type TextToolDefinition, type TypedTool } from '@tutti/core'

/** Creates a text tool with this name; by default it appends `>name` to its input. */
export function textTool(
  name: string,
  execute: TextToolDefinition['execute'] = (text) => `${text}>${name}`,
  settings: Partial<TextToolDefinition> = {},
): TypedTool<string> {
  return defineTextTool({ description: `Does ${name}`, ...settings, name, execute })
}

/** Creates a text tool that throws. */
export function throwingTool(name: string, message = 'No network'): TypedTool<string> {
  return textTool(name, () => {
    throw new Error(message)
  })
}
