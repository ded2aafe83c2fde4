/** Recognizes tools at run time. */
import { showType } from './definition-error.ts'

import type { AgentTool } from '@tutti/core'

/** Whether a value has the members of a tool that steps use. */
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

/** Returns a problem if a value is not a tool; `where` is a name such as `step 2`. */
export function findToolProblems(value: unknown, where: string): readonly string[] {
  if (isTool(value)) return []
  return [`${where} must be a tool, got ${showType(value)}`]
}
