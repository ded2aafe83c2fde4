/** Builds the replies to refused messages. Pure. */
import { toPeerRefusal, type WireError } from '@tutti/gateway'

import { toControlRefusal } from '../agentensemble/control-messages.ts'
import { repeatId } from '../repeat-id.ts'

import type { MessageHead } from './parse-message.ts'
import type { ClientMessage, ErrorBody, ErrorCode, ServerMessage } from '@tutti/protocol'

/** Error codes with a status of 500 and above that are refusals, not internal errors. */
const NOT_OFFERED: readonly ErrorCode[] = ['NOT_CONFIGURED']

/**
 * Returns the reply to a message that failed: the acknowledgement of its type if there is one and the message is the
 * cause, otherwise an `error`.
 */
export function toMessageRefusal(
  { status, body }: WireError,
  message: ClientMessage | undefined,
): ServerMessage {
  const { error: code } = body
  const requestId = message !== undefined && 'requestId' in message ? message.requestId : undefined
  if (isSubmission(message?.type)) return toRejectedRun(body, requestId)
  if (message?.type === 'task_request' || message?.type === 'tool_request') {
    return toPeerRefusal({ status, body }, message)
  }
  const isRefused = status < 500 || NOT_OFFERED.includes(code)
  const refusal = isRefused ? toControlRefusal(body, message) : undefined
  return refusal ?? { type: 'error', ...body, ...repeatId(requestId) }
}

/** Returns the reply to an invalid message with a known type and request id. */
export function toMalformedRefusal(
  { body }: WireError,
  { type, requestId }: MessageHead,
): ServerMessage {
  return isSubmission(type)
    ? toRejectedRun(body, requestId)
    : { type: 'error', ...body, ...repeatId(requestId) }
}

/** Whether a message submits a run, so that its reply is a `run_ack`. */
function isSubmission(type: string | undefined): boolean {
  return type === 'run_request' || type === 'run_fork' || type === 'run_replay'
}

function toRejectedRun(body: ErrorBody, requestId: string | undefined): ServerMessage {
  return { type: 'run_ack', status: 'REJECTED', tasks: 0, ...body, ...repeatId(requestId) }
}
