/** Calling one of the tools that a tool is made of. */
import { ToolResult } from '@tutti/core'

import type { AgentTool, CallToolOptions, ToolCallOutcome, ToolContext } from '@tutti/core'

/** What is called. */
export interface Part {
  readonly tool: AgentTool
  readonly input: unknown
  /** Names it in messages, such as `Step 'search'`. */
  readonly who: string
}

/**
 * Calls a tool as a part of the call of `context`.
 *
 * @throws {TuttiError} EXIT_EARLY and TOOL_CONFIGURATION of the tool.
 * @throws when the whole call was stopped before: nothing more begins in it.
 */
export async function callPart(
  { tool, input }: Part,
  context: ToolContext,
  options: CallToolOptions,
): Promise<ToolCallOutcome> {
  context.signal.throwIfAborted()
  return context.callTool(tool, input, options)
}

/** The result of a part, as it is; where the part threw, the message says who did. */
export function resultOf({ result, end }: ToolCallOutcome, { who }: Part): ToolResult {
  if (end !== 'threw') return result
  return ToolResult.failure(`${who} threw: ${result.errorMessage ?? ''}`)
}
