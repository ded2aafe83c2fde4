/** Converts failures of MCP servers to failures of an agent. Pure. */
import { AgentError } from '@tutti/agent-call/internal'
import { McpError } from '@tutti/mcp/internal'

/** Converts a failure of an MCP server; returns other errors unchanged. */
export function toAgentError(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AgentError) return cause
  }
  if (!(error instanceof McpError)) return error
  const { kind, message, retryable, retryAfterMs } = error
  return new AgentError(message, {
    failureType: kind === 'rpc_error' ? 'agent_failed' : kind,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: error,
  })
}
