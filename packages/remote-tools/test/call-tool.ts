/** Calls a tool as a model does. */
import { runTool, type AgentTool, type RunToolOptions, type ToolCallOutcome } from '@tutti/core'

/** Returns the outcome of a call. `input` is the text of a text tool, or the arguments of a typed tool. */
export function callTool(
  tool: AgentTool,
  input: unknown = '',
  options: RunToolOptions = {},
): Promise<ToolCallOutcome> {
  const value = tool.kind === 'text' ? { input } : input
  const call = { id: 'call', name: tool.name, arguments: JSON.stringify(value) }
  return runTool(tool, call, options)
}
