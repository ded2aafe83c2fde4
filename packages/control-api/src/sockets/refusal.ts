/** Builds the replies to refused messages. Pure. */
import { toPeerRefusal, type WireError } from '@tutti/gateway'

import type { MessageHead } from './parse-message.ts'
import type { ClientMessage, ErrorBody, ErrorCode, ServerMessage } from '@tutti/protocol'

type RunControlStatus = Extract<ServerMessage, { type: 'run_control_ack' }>['status']

/** AgentEnsemble's statuses of a failed `run_control` by error code; REJECTED for all others. */
const CONTROL_STATUS: Partial<Record<ErrorCode, RunControlStatus>> = {
  RUN_NOT_FOUND: 'NOT_FOUND',
  RUN_COMPLETED: 'NOT_RUNNING',
  RUN_NOT_RUNNING: 'NOT_RUNNING',
  INVALID_MODEL: 'INVALID_MODEL',
  NOT_CONFIGURED: 'NOT_CONFIGURED',
}

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
  const { error: code, message: reason } = body
  const requestId = message !== undefined && 'requestId' in message ? message.requestId : undefined
  if (isSubmission(message?.type)) return toRejectedRun(body, requestId)
  if (message?.type === 'task_request' || message?.type === 'tool_request') {
    return toPeerRefusal({ status, body }, message)
  }
  const isRefused = status < 500 || NOT_OFFERED.includes(code)
  if (message?.type === 'run_control' && isRefused) {
    const { runId, action } = message
    const refusedStatus = CONTROL_STATUS[code] ?? 'REJECTED'
    return { type: 'run_control_ack', runId, action, status: refusedStatus, message: reason }
  }
  if (message?.type === 'directive' && isRefused) {
    return { type: 'directive_ack', directiveId: null, status: 'REJECTED', message: reason }
  }
  return toErrorMessage(body, requestId)
}

/** Returns the reply to an invalid message, of which only type and request id are known. */
export function toMalformedRefusal(
  { body }: WireError,
  { type, requestId }: MessageHead,
): ServerMessage {
  return isSubmission(type) ? toRejectedRun(body, requestId) : toErrorMessage(body, requestId)
}

/** Whether a message submits a run, so that its reply is a `run_ack`. */
function isSubmission(type: string | undefined): boolean {
  return type === 'run_request' || type === 'run_fork' || type === 'run_replay'
}

function toRejectedRun(body: ErrorBody, requestId: string | undefined): ServerMessage {
  return { type: 'run_ack', status: 'REJECTED', tasks: 0, ...body, ...ownId(requestId) }
}

function toErrorMessage(body: ErrorBody, requestId: string | undefined): ServerMessage {
  return { type: 'error', ...body, ...ownId(requestId) }
}

/** Returns the request id of the client, which replaces the id under which an internal error is logged. */
function ownId(requestId: string | undefined): { readonly requestId?: string } {
  return requestId === undefined ? {} : { requestId }
}
