/** Creates requests to a peer as messages of its WebSocket. Pure. */
import { createHash } from 'node:crypto'

import type { PeerKind } from './peer-address.ts'
import type { ClientMessage, ServerMessage } from '@tutti/protocol'
import type { TaskRequest, ToolRequest } from '@tutti/protocol/internal'

/** Types of a peer's replies; other messages are ignored. */
export const REPLY_TYPES = [
  'task_accepted',
  'task_progress',
  'task_response',
  'tool_response',
  'capability_response',
  'run_control_ack',
  'error',
] as const

export type PeerReply = Extract<ServerMessage, { type: (typeof REPLY_TYPES)[number] }>

/** Subscription to no run events: the connection needs only replies and heartbeats. */
export const SUBSCRIBE_TO_REPLIES: ClientMessage = {
  type: 'subscribe',
  events: [...REPLY_TYPES, 'heartbeat'],
}

export interface PeerQuestion {
  readonly kind: PeerKind
  readonly name: string
  /** Name of the caller. */
  readonly from: string
  readonly requestId: string
  readonly input: unknown
  readonly traceparent: string | undefined
  /** Time until the answer, from the first attempt of the request, in milliseconds; or Infinity. */
  readonly deadlineMs: number
}

/** Returns the request as a message. */
export function createPeerRequest(question: PeerQuestion): TaskRequest | ToolRequest {
  const { kind, name, from, requestId, traceparent, deadlineMs } = question
  const text = toText(question.input)
  const traceContext = traceparent === undefined ? {} : { traceContext: { traceparent } }
  if (kind === 'tool') {
    const input = text === undefined ? {} : { input: text }
    return { type: 'tool_request', requestId, from, tool: name, ...input, ...traceContext }
  }
  return {
    type: 'task_request',
    requestId,
    from,
    task: name,
    ...(text === undefined ? {} : { context: text }),
    ...(Number.isFinite(deadlineMs) ? { deadline: isoDuration(deadlineMs) } : {}),
    ...traceContext,
  }
}

/** Returns the id of a request: a hash of its content, so that a repeated request has the same id. */
export function hashRequestId(parts: readonly (string | number)[]): string {
  return `tutti-${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`
}

/** Returns text unchanged, other values as JSON, and undefined for undefined. */
function toText(input: unknown): string | undefined {
  if (input === undefined || input === null) return undefined
  return typeof input === 'string' ? input : JSON.stringify(input)
}

/** Rounds up to at least one millisecond, because a deadline of zero is rejected. */
function isoDuration(ms: number): string {
  return `PT${(Math.max(1, Math.ceil(ms)) / 1_000).toFixed(3)}S`
}
