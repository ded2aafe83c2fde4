/** From the result of an MCP tool to the result of a call. Pure. */
import { ToolResult } from '@tutti/core'

import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'

/** The result: text as it is, and what is no text by its name and size. */
export function toolResultOf(result: CallToolResult): ToolResult {
  const { structuredContent } = result
  const text = result.content.map(textOf).join('\n')
  if (result.isError === true) {
    const failure = ToolResult.failure(
      text.trim() === '' ? 'The tool failed and did not say why' : text,
    )
    return structuredContent === undefined
      ? failure
      : Object.assign(failure, { structured: structuredContent })
  }
  if (structuredContent === undefined) return ToolResult.success(text)
  return ToolResult.success(
    text === '' ? JSON.stringify(structuredContent) : text,
    structuredContent,
  )
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, ${byteLength(block.data)} bytes]`
    case 'resource_link':
      return `[resource ${block.uri}: ${block.title ?? block.name}${inParentheses(block.mimeType)}]`
    case 'resource': {
      const { resource } = block
      const name = `resource ${resource.uri}${inParentheses(resource.mimeType)}`
      return 'text' in resource
        ? `[${name}]\n${resource.text}`
        : `[${name}: ${byteLength(resource.blob)} bytes]`
    }
    default:
      return '[content of an unknown kind]'
  }
}

function inParentheses(text: string | undefined): string {
  return text === undefined ? '' : ` (${text})`
}

/** Bytes that base64 text stands for. */
function byteLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
}
