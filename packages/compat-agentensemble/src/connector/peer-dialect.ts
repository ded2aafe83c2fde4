/** Messages of the link to a peer: replies to requests, and failures. */
import { AgentError } from '@tutti/agent-call/internal'
import { LinkClosedError, type SocketDialect } from '@tutti/net/internal'
import { decodeServerMessage } from '@tutti/protocol'

import { toHttpFailure, toStatusFailure } from '@tutti/agent-tool/internal'

import { createInvalidMessageFailure } from './peer-failure.ts'
import { REPLY_TYPES, SUBSCRIBE_TO_REPLIES, type PeerReply } from './peer-request.ts'

/** Number of bytes that are searched for the type of a message. */
const HEAD_BYTES = 64

/**
 * Creates the dialect of a peer; `origin` appears in messages. It parses only replies. The peer's run events
 * are not requested, and events that arrive before the request took effect are not parsed.
 */
export function createPeerDialect(origin: string): SocketDialect<PeerReply> {
  return {
    greeting: SUBSCRIBE_TO_REPLIES,
    read(data) {
      const start = data.toString('utf8', 0, HEAD_BYTES)
      const [, type] = /^\s*\{\s*"type"\s*:\s*"(\w+)"/.exec(start) ?? []
      if (type !== undefined && !isReplyType(type)) return undefined
      const message = parse(data)
      if (message === undefined) throw createNotJsonFailure(origin, start)
      if (!isReplyType(message.type)) return undefined
      const id = idOf(message)
      const decoded = decodeServerMessage(message)
      // NOTE: the type is one of REPLY_TYPES, and the message matches the schema of that type.
      if (decoded.ok) return { id, message: decoded.value as PeerReply }
      if (id === undefined) return undefined
      return { id, problem: createInvalidMessageFailure(String(message.type), decoded.problems) }
    },
    toError: (reason) =>
      reason instanceof LinkClosedError
        ? createClosedFailure(origin)
        : toHttpFailure(reason, origin),
    toHandshakeError: (response) => toStatusFailure(response),
  }
}

/** Returns the failure of a lost connection that could not be opened again, for the reason in `cause`. */
export function createReopenFailure(loss: AgentError, cause: AgentError): AgentError {
  return new AgentError(`${loss.message}, and could not be opened again: ${cause.message}`, {
    failureType: 'connection_lost',
    retryable: true,
    cause,
  })
}

/** Returns the failure of a link that this side closed; the request must not be repeated. */
function createClosedFailure(origin: string): AgentError {
  return new AgentError(`The connection to the agent at ${origin} was closed by this side`, {
    failureType: 'connection_lost',
    retryable: false,
  })
}

function createNotJsonFailure(origin: string, start: string): AgentError {
  const shown = JSON.stringify(start)
  return new AgentError(
    `The agent at ${origin} sent a message that is not JSON: it begins with ${shown}`,
    { failureType: 'invalid_response', retryable: false },
  )
}

/** Members that are read before a message is validated. */
interface Head {
  readonly type?: unknown
  readonly requestId?: unknown
  readonly runId?: unknown
}

function isReplyType(type: unknown): boolean {
  return REPLY_TYPES.some((known) => known === type)
}

function idOf({ type, runId, requestId }: Head): string | undefined {
  const id = type === 'run_control_ack' ? runId : requestId
  return typeof id === 'string' ? id : undefined
}

function parse(data: Buffer): Head | undefined {
  try {
    const value: unknown = JSON.parse(data.toString())
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
