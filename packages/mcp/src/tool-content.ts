/** Formats the content of MCP results as text. Pure. */
import type { ContentBlock } from '@modelcontextprotocol/client'

/** Returns text content unchanged, and describes other content by type and size. */
export function contentText(content: readonly ContentBlock[]): string {
  return content.map(formatBlock).join('\n')
}

function formatBlock(block: ContentBlock): string {
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
      // A client of the caller may accept other types than this version of the SDK knows.
      return `[content of unknown type "${String(Reflect.get(block, 'type'))}"]`
  }
}

function inParentheses(text: string | undefined): string {
  return text === undefined ? '' : ` (${text})`
}

/** Returns the number of bytes that a base64 text encodes. */
function byteLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
}
