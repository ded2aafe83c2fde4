/** Calls one of the tools inside a compound tool. */
import { ToolResult } from '@tutti/core'

import type { AgentTool, ToolCallOutcome, ToolContext } from '@tutti/core'
import type { CallToolOptions } from '@tutti/core/internal'

/** A tool with its input. */
export interface Part {
  readonly tool: AgentTool
  readonly input: unknown
  /** Name in messages, such as `Step 'search'`. */
  readonly label: string
}

/**
 * Calls a tool as a part of the call of `context`.
 *
 * @throws {TuttiError} EXIT_EARLY and TOOL_CONFIGURATION of the tool.
 * @throws the reason of the abort when the labelle call was aborted before; no further part starts.
 */
export async function callPart(
  { tool, input }: Part,
  context: ToolContext,
  options: CallToolOptions,
): Promise<ToolCallOutcome> {
  context.signal.throwIfAborted()
  return context.callTool(tool, input, options)
}

/** Returns the result of a part. If the part threw, the message names it. */
export function toPartResult({ result, end }: ToolCallOutcome, { label }: Part): ToolResult {
  if (end !== 'threw') return result
  return ToolResult.failure(`${label} threw: ${result.errorMessage ?? ''}`)
}
