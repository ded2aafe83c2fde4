/** Calls a tool as a model does. */
import { runTool, type AgentTool, type RunToolOptions, type ToolCallOutcome } from '@tutti/core'

/** The outcome of a call with `input`; for a text tool that is its text, for others the arguments. */
export function callTool(
  tool: AgentTool,
  input: unknown = '',
  options: RunToolOptions = {},
): Promise<ToolCallOutcome> {
  const value = tool.kind === 'text' ? { input } : input
  const call = { id: 'call', name: tool.name, arguments: JSON.stringify(value) }
  return runTool(tool, call, options)
}
