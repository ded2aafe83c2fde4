/** Builds the replies to refused messages. Pure. */
import { repeatId } from '../repeat-id.ts'
import { findAddedMessage } from './added-message.ts'
import { toControlRefusal } from './control-messages.ts'

import type { MessageOf, ServerExtension, WireError } from '@tutti/gateway/internal'
import type { MessageHead } from './parse-message.ts'
import type { ClientMessage, ErrorBody, ErrorCode, ServerMessage } from '@tutti/protocol'

/** Error codes with a status of 500 and above that are refusals, not internal errors. */
const NOT_OFFERED: readonly ErrorCode[] = ['NOT_CONFIGURED']

/**
 * Returns the reply to a message that failed: the acknowledgement of its type if there is one and the message is the
 * cause, otherwise an `error`. Extensions choose the replies to their own messages.
 */
export function toMessageRefusal(
  { status, body }: WireError,
  message: ClientMessage | undefined,
  extensions: readonly ServerExtension[] = [],
): ServerMessage {
  const { error: code } = body
  const requestId = message !== undefined && 'requestId' in message ? message.requestId : undefined
  if (isSubmission(message?.type)) return toRejectedRun(body, requestId)
  const added = message === undefined ? undefined : toAddedRefusal(message, extensions)
  if (added !== undefined) return added({ status, body })
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

/** Returns the function of an extension that builds the reply to its refused message; undefined if there is none. */
function toAddedRefusal<T extends ClientMessage['type']>(
  message: MessageOf<T>,
  extensions: readonly ServerExtension[],
): ((error: WireError) => ServerMessage) | undefined {
  const handler = findAddedMessage(message.type, extensions)
  const { toRefusal } = handler ?? {}
  return toRefusal === undefined ? undefined : (error) => toRefusal(error, message)
}
