/** Request of another agent or of an MCP client that started a run or called a tool. */
import type { MessagePart } from '@tutti/protocol/internal'

/** A2A message that started the run. */
export interface A2aRequest {
  readonly protocol: 'a2a'
  readonly messageId: string
  readonly contextId: string
  readonly parts: readonly MessagePart[]
  /** Metadata of the message. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Metadata of the request, in addition to that of its message. */
  readonly requestMetadata?: Readonly<Record<string, unknown>>
  readonly extensions?: readonly string[]
  readonly referenceTaskIds?: readonly string[]
}

/** MCP call that started the run or called the tool. */
export interface McpRequest {
  readonly protocol: 'mcp'
  /** Name of the called tool or ensemble. */
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** `_meta` of the call. */
  readonly meta?: Readonly<Record<string, unknown>>
}

/** Request of the caller. Narrows by `protocol`. The caller wrote its content: do not trust it. */
export type CallerRequest = A2aRequest | McpRequest
