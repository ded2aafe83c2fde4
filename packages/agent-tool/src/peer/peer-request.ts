/** Pure: what a peer is asked, as messages of its WebSocket. */
import { createHash } from 'node:crypto'

import type { PeerKind } from './peer-address.ts'
import type { ClientMessage, ServerMessage, TaskRequest, ToolRequest } from '@tutti/protocol'

/** Types of messages that a peer answers with; the others are not for us. */
export const REPLY_TYPES = [
  'task_accepted',
  'task_progress',
  'task_response',
  'tool_response',
  'capability_response',
  'run_control_ack',
  'error',
] as const

/** A message that a peer answers with. */
export type PeerReply = Extract<ServerMessage, { type: (typeof REPLY_TYPES)[number] }>

/** Keeps the events of the peer's runs away from a connection: only replies and signs of life are wanted. */
export const SUBSCRIBE_TO_REPLIES: ClientMessage = {
  type: 'subscribe',
  events: [...REPLY_TYPES, 'heartbeat'],
}

/** One request. */
export interface PeerQuestion {
  readonly kind: PeerKind
  readonly name: string
  /** Who asks. */
  readonly from: string
  readonly requestId: string
  readonly input: unknown
  readonly traceparent: string | undefined
  /** How long the answer may take from when the request was first made, in milliseconds; or Infinity. */
  readonly deadlineMs: number
}

/** The request as a message. */
export function peerRequest(question: PeerQuestion): TaskRequest | ToolRequest {
  const { kind, name, from, requestId, traceparent, deadlineMs } = question
  const text = textOf(question.input)
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

/** The id of a request: the same for the same words, and telling nothing of them. */
export function requestIdOf(words: readonly (string | number)[]): string {
  return `tutti-${createHash('sha256').update(JSON.stringify(words)).digest('base64url')}`
}

/** Text as it is, anything else as JSON; undefined for nothing. */
function textOf(input: unknown): string | undefined {
  if (input === undefined || input === null) return undefined
  return typeof input === 'string' ? input : JSON.stringify(input)
}

/** At least one millisecond: a deadline of no time is refused. */
function isoDuration(ms: number): string {
  return `PT${(Math.max(1, Math.ceil(ms)) / 1_000).toFixed(3)}S`
}
