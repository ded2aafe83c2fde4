/** From the result of an MCP tool to the answer of an agent. Pure. */
import { AgentError, type AgentAnswer } from '@tutti/agent-call'

import { usageIn } from './mcp-usage.ts'

import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'

/**
 * The answer: the structured content where there is any, else the text, else the content as it is.
 *
 * @throws {AgentError} agent_failed when the tool says that it failed, with what it gave.
 */
export function toolAnswer(result: CallToolResult, name: string): AgentAnswer {
  const { structuredContent, content } = result
  const text = content.map(textOf).join('\n')
  const isText = content.every(({ type }) => type === 'text')
  const output: unknown = structuredContent ?? (isText ? text : content)
  if (result.isError === true) {
    const said = text.trim() === '' ? 'it did not say why' : text
    throw new AgentError(`MCP tool "${name}" failed: ${said}`, {
      failureType: 'agent_failed',
      retryable: false,
      partial: structuredContent ?? content,
    })
  }
  const usage = usageIn(result._meta)
  return {
    kind: 'end',
    state: 'completed',
    output,
    ...(text === '' && structuredContent !== undefined ? {} : { text }),
    ...(usage === undefined ? {} : { usage }),
  }
}

/** Text as it is, and what is no text by its name and size. */
function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, ${byteLength(block.data)} bytes]`
    case 'resource_link':
      return `[resource ${block.uri}: ${block.title ?? block.name}]`
    case 'resource': {
      const { resource } = block
      return 'text' in resource
        ? `[resource ${resource.uri}]\n${resource.text}`
        : `[resource ${resource.uri}: ${byteLength(resource.blob)} bytes]`
    }
    default:
      return '[content of an unknown kind]'
  }
}

/** Bytes that base64 text stands for. */
function byteLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
}
