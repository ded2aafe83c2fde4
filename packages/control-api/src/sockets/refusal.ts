/** Pure: how a message that cannot be acted on is answered. */

import { toPeerRefusal, type WireError } from '@tutti/gateway'

import type { MessageHead } from './parse-message.ts'
import type { ClientMessage, ErrorBody, ErrorCode, ServerMessage } from '@tutti/protocol'

type RunControlStatus = Extract<ServerMessage, { type: 'run_control_ack' }>['status']

/** AgentEnsemble's words for what a run control can fail with; REJECTED for the rest. */
const CONTROL_STATUS: Partial<Record<ErrorCode, RunControlStatus>> = {
  RUN_NOT_FOUND: 'NOT_FOUND',
  RUN_COMPLETED: 'NOT_RUNNING',
  RUN_NOT_RUNNING: 'NOT_RUNNING',
  INVALID_MODEL: 'INVALID_MODEL',
  NOT_CONFIGURED: 'NOT_CONFIGURED',
}

/** Codes of 500 and above that are nobody's fault: the message asks for something that is not there. */
const NOT_OFFERED: readonly ErrorCode[] = ['NOT_CONFIGURED']

/**
 * The answer to a message that failed: the acknowledgement of its kind where it has one and the message
 * itself is the reason, else an `error`.
 */
export function toMessageRefusal(
  { status, body }: WireError,
  message: ClientMessage | undefined,
): ServerMessage {
  const { error: code, message: reason } = body
  const requestId = message !== undefined && 'requestId' in message ? message.requestId : undefined
  if (message?.type === 'run_request') return toRejectedRun(body, requestId)
  if (message?.type === 'task_request' || message?.type === 'tool_request') {
    return toPeerRefusal({ status, body }, message)
  }
  const isRefused = status < 500 || NOT_OFFERED.includes(code)
  if (message?.type === 'run_control' && isRefused) {
    const { runId, action } = message
    const word = CONTROL_STATUS[code] ?? 'REJECTED'
    return { type: 'run_control_ack', runId, action, status: word, message: reason }
  }
  if (message?.type === 'directive' && isRefused) {
    return { type: 'directive_ack', directiveId: null, status: 'REJECTED', message: reason }
  }
  return toErrorMessage(body, requestId)
}

/** The answer to a message that does not fit its schema, of which only the head can be told. */
export function toMalformedRefusal(
  { body }: WireError,
  { type, requestId }: MessageHead,
): ServerMessage {
  return type === 'run_request' ? toRejectedRun(body, requestId) : toErrorMessage(body, requestId)
}

function toRejectedRun(body: ErrorBody, requestId: string | undefined): ServerMessage {
  return { type: 'run_ack', status: 'REJECTED', tasks: 0, ...body, ...ownId(requestId) }
}

function toErrorMessage(body: ErrorBody, requestId: string | undefined): ServerMessage {
  return { type: 'error', ...body, ...ownId(requestId) }
}

/** The client's own id; it takes the place of ours, under which a fault is logged. */
function ownId(requestId: string | undefined): { readonly requestId?: string } {
  return requestId === undefined ? {} : { requestId }
}
