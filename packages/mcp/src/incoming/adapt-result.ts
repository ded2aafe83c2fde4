/**
 * Adapts results of servers to what the SDK accepts, so that one careless part does not take away the whole. Pure.
 *
 * MCP-A1 The entries of a list are not checked here: they travel in `_meta`, and `readToolPage` reads them one by one.
 * MCP-A2 A part of the content of a call that cannot be read becomes a text that names it, because the call is done.
 * MCP-A3 A result without which no work is possible is a problem: one of `initialize` without version or server.
 */
import { isJsonObject, unmarkText } from '@tutti/core/internal'

import { preview } from './failed-answer.ts'

type Fields = Readonly<Record<string, unknown>>

/** A result for the SDK, or the reason why it cannot be used. */
export type AdaptedResult =
  | { readonly ok: true; readonly result: Fields }
  | { readonly ok: false; readonly problem: string }

/** Field of `_meta` with the unchecked page of a list. */
export const LISTED = 'tutti/listed'

/** Returns whether a value is content that the SDK accepts. */
export type IsContentBlock = (value: unknown) => boolean

/** Adapts the result of a request. */
export function adaptResult(
  result: Fields,
  { method, isContentBlock }: { readonly method: string; readonly isContentBlock: IsContentBlock },
): AdaptedResult {
  const { _meta: meta, ...rest } = result
  const own: Fields = isJsonObject(meta) ? { ...rest, _meta: meta } : rest
  if (method === 'tools/list') return { ok: true, result: moveList(own) }
  if (method === 'tools/call') return { ok: true, result: adaptCallResult(own, isContentBlock) }
  return method === 'initialize' ? adaptInitializeResult(own) : { ok: true, result: own }
}

function moveList(result: Fields): Fields {
  const { tools, nextCursor, _meta: meta, ...rest } = result
  return {
    ...rest,
    tools: [],
    _meta: { ...(isJsonObject(meta) ? meta : {}), [LISTED]: { tools, nextCursor } },
  }
}

function adaptInitializeResult(result: Fields): AdaptedResult {
  const { protocolVersion, capabilities = {}, serverInfo, instructions, ...rest } = result
  if (typeof protocolVersion !== 'string') {
    return { ok: false, problem: 'must have a protocolVersion that is text' }
  }
  const { name, version } = isJsonObject(serverInfo) ? serverInfo : {}
  if (typeof name !== 'string' || typeof version !== 'string') {
    return { ok: false, problem: 'must have a serverInfo with name and version' }
  }
  const declared = isJsonObject(capabilities) ? capabilities : {}
  return {
    ok: true,
    result: {
      ...rest,
      protocolVersion,
      capabilities: Object.fromEntries(
        Object.entries(declared).filter(([, value]) => isJsonObject(value)),
      ),
      serverInfo: { name, version },
      ...(typeof instructions === 'string' ? { instructions } : {}),
    },
  }
}

function adaptCallResult(result: Fields, isContentBlock: IsContentBlock): Fields {
  // A question of the server has other fields; see `McpToolCall`.
  if (result['resultType'] === 'input_required') return result
  const { content, structuredContent, isError, ...rest } = result
  const isObject = isJsonObject(structuredContent)
  const isModern = 'resultType' in result
  const keepsStructured = isObject || (isModern && structuredContent !== undefined)
  const blocks = toBlocks(content, isContentBlock)
  const hasOther = !keepsStructured && structuredContent !== undefined && structuredContent !== null
  return {
    ...rest,
    // Before protocol 2026-07-28 the structured content was an object.
    content:
      hasOther && blocks.length === 0
        ? [text(unmarkText(JSON.stringify(structuredContent)))]
        : blocks,
    ...(keepsStructured ? { structuredContent } : {}),
    ...(isTrue(isError) ? { isError: true } : {}),
  }
}

function toBlocks(content: unknown, isContentBlock: IsContentBlock): readonly unknown[] {
  if (content === undefined || content === null) return []
  return (Array.isArray(content) ? content : [content]).map((one) => toBlock(one, isContentBlock))
}

function toBlock(block: unknown, isContentBlock: IsContentBlock): unknown {
  if (typeof block === 'string') return text(block)
  if (!isJsonObject(block)) return text(`[invalid content: ${preview(block)}]`)
  if (isContentBlock(block)) return block
  // Annotations, icons and metadata are not shown, so their faults do not matter.
  const { annotations: _annotations, icons: _icons, _meta: _unread, ...bare } = block
  if (isContentBlock(bare)) return bare
  const { type, ...rest } = bare
  if (typeof type !== 'string') return text(`[content without a type: ${preview(block)}]`)
  const what = KNOWN_TYPES.has(type) ? 'invalid content' : 'content of unknown type'
  return text(`[${what} "${type}": ${preview(rest)}]`)
}

const KNOWN_TYPES: ReadonlySet<string> = new Set([
  'text',
  'image',
  'audio',
  'resource_link',
  'resource',
])

function text(said: string): Fields {
  return { type: 'text', text: said }
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true' || value === 1
}
