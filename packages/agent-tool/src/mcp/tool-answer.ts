/** Converts results of MCP tools to answers of an agent, with the usage that they report. Pure. */
import { AgentError, type AgentAnswer, type AgentCall } from '@tutti/agent-call/internal'
import { toPlainJson } from '@tutti/core/internal'
import { contentText, type McpToolResult } from '@tutti/mcp/internal'

import { toLimitsMetadata, readUsageMetadata } from '../usage-metadata.ts'

/**
 * Converts a result to an answer: its structured content, else its text, else its content unchanged.
 *
 * @throws {AgentError} agent_failed when the tool reports a failure, with its output.
 */
export function toMcpAnswer(result: McpToolResult, name: string): AgentAnswer {
  const { content } = result
  const structuredContent = toPlainJson(result.structuredContent)
  const text = contentText(content)
  const isText = content.every(({ type }) => type === 'text')
  const output: unknown = structuredContent ?? (isText ? text : content)
  if (result.isError === true) {
    const reason = text.trim() === '' ? 'it did not say why' : text
    throw new AgentError(`MCP tool "${name}" failed: ${reason}`, {
      failureType: 'agent_failed',
      retryable: false,
      partial: structuredContent ?? content,
    })
  }
  const usage = readUsageMetadata(result._meta)
  return {
    kind: 'end',
    state: 'completed',
    output,
    ...(text === '' && structuredContent !== undefined ? {} : { text }),
    ...(usage === undefined ? {} : { usage }),
  }
}

/** Returns `_meta` of a request: the limits of the call and its trace. */
export function requestMeta({
  remaining,
  traceparent,
}: Pick<AgentCall, 'remaining' | 'traceparent'>): Record<string, unknown> {
  return { ...toLimitsMetadata(remaining()), ...(traceparent === undefined ? {} : { traceparent }) }
}
