/** Pure: how a peer is told that what it asked for was not done. */
import type { WireError } from '../http/api-error.ts'
import type { ServerMessage, TaskRequest, ToolRequest } from '@tutti/protocol'

/** The end of what a peer asked for. */
export type PeerResponse = Extract<ServerMessage, { type: 'task_response' | 'tool_response' }>

/**
 * The answer to a request that could not be done: REJECTED when it was not begun, FAILED for a fault of the
 * server. The text begins with the code, as the wire has no other place for it.
 */
export function peerRefusal(
  { status, body }: WireError,
  { type, requestId }: TaskRequest | ToolRequest,
): PeerResponse {
  return {
    type: type === 'task_request' ? 'task_response' : 'tool_response',
    requestId,
    status: status === 500 ? 'FAILED' : 'REJECTED',
    error: `${body.error}: ${body.message}`,
  }
}
