/** Telling tools from what is none, where the compiler was not asked. */
import type { AgentTool } from '@tutti/core'

/** Whether a value has what steps are called through. */
export function isTool(value: unknown): value is AgentTool {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'readInput' in value &&
    typeof value.readInput === 'function' &&
    'call' in value &&
    typeof value.call === 'function'
  )
}

/** What is wrong with a value that should be a tool; `where` is such as `step 2`. */
export function toolProblems(value: unknown, where: string): readonly string[] {
  if (isTool(value)) return []
  return [`${where} must be a tool, got ${value === null ? 'null' : typeof value}`]
}
