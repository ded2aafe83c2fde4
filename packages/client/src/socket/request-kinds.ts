/** Pure: every message that waits for a reply, and how the reply looks. */
import {
  decode,
  decodeClientMessage,
  ROUTES,
  type Capabilities,
  type ClientMessage,
  type DirectiveAck,
  type ErrorMessage,
  type RunAck,
  type RunControl,
  type RunControlAck,
  type RunDetail,
  type RunList,
  type StateQuery,
  type Subscribe,
  type ToolResponse,
} from '@tutti/protocol'

import { TuttiClientError, type ClientErrorCode } from '../errors.ts'
import { misfit } from '../http/read-answer.ts'
import { coded, refusal } from './refusal.ts'
import { newRequestId } from './request-id.ts'

import type { LoggedRunEventOf } from '../events/run-events.ts'
import type { Schema, ValueOf } from '../http/call-route.ts'
import type { SocketRequest } from './requests.ts'

/** Who this side says it is to a server that shares its tools. */
const OWN_NAME = 'tutti-client'

/** A message of one type as its caller writes it: a field may be undefined, which JSON leaves out. */
type Written<Type extends ClientMessage['type']> = {
  readonly [K in keyof Extract<ClientMessage, { type: Type }>]:
    | Extract<ClientMessage, { type: Type }>[K]
    | undefined
}

/** An acknowledged submit. */
export type AcceptedRun = RunAck & { readonly runId: string }

/** Submits a run; safe when it has an idempotency key. */
export function submitRequest(
  fields: Omit<Written<'run_request'>, 'type' | 'requestId'>,
): SocketRequest<AcceptedRun> {
  const requestId = newRequestId()
  const what = 'a submit'
  return {
    what,
    message: checked(what, { ...fields, type: 'run_request', requestId }),
    isSafe: fields.idempotencyKey !== undefined,
    reply(message) {
      if (message.type !== 'run_ack' || message.requestId !== requestId) return undefined
      const { runId } = message
      if (message.status === 'REJECTED' || runId === undefined) throw refusal(what, message)
      return { value: { ...message, runId } }
    },
  }
}

/** AgentEnsemble's words for a run control that was refused → the codes they stand for. */
const CONTROL_CODES: Partial<Record<RunControlAck['status'], ClientErrorCode>> = {
  NOT_FOUND: 'RUN_NOT_FOUND',
  NOT_RUNNING: 'RUN_NOT_RUNNING',
  INVALID_MODEL: 'INVALID_MODEL',
  NOT_CONFIGURED: 'NOT_CONFIGURED',
}

/** Cancels a run, or switches its model. */
export function controlRequest(
  fields: Omit<Written<'run_control'>, 'type'> & Pick<RunControl, 'runId' | 'action'>,
): SocketRequest<RunControlAck> {
  const { runId, action } = fields
  const what = `${action} of run "${runId}"`
  return {
    what,
    message: checked(what, { ...fields, type: 'run_control' }),
    isSafe: false,
    mayFailWith: isNoReviewError,
    reply(message) {
      if (message.type !== 'run_control_ack') return undefined
      if (message.runId !== runId || message.action !== action) return undefined
      const { status } = message
      if (status === 'CANCELLING' || status === 'CANCELLED' || status === 'APPLIED') {
        return { value: message }
      }
      throw refusal(what, { error: CONTROL_CODES[status], message: message.message ?? status })
    },
  }
}

/** Tells agents something. */
export function directiveRequest(
  fields: Omit<Written<'directive'>, 'type'>,
): SocketRequest<DirectiveAck> {
  const what = 'a directive'
  return {
    what,
    message: checked(what, { ...fields, type: 'directive' }),
    isSafe: false,
    mayFailWith: isNoReviewError,
    reply(message) {
      if (message.type !== 'directive_ack') return undefined
      if (message.directiveId === null) throw refusal(what, { message: message.message })
      return { value: message }
    },
  }
}

/** Decides a review; its `review_decided` is the reply, as the server sends no other. */
export function decisionRequest(
  fields: Omit<Written<'review_decision'>, 'type'> & { readonly reviewId: string },
): SocketRequest<LoggedRunEventOf<'review_decided'>> {
  const { reviewId, decision } = fields
  const what = `the decision of review "${reviewId}"`
  return {
    what,
    message: checked(what, { ...fields, type: 'review_decision' }),
    isSafe: false,
    // Another decision is that of somebody else, who was first; the error for this one follows.
    reply: (message) =>
      message.type === 'review_decided' &&
      message.reviewId === reviewId &&
      message.decision === decision
        ? { value: message }
        : undefined,
  }
}

/** Calls a shared tool. */
export function toolRequest(tool: string, input: string): SocketRequest<ToolResponse> {
  const requestId = newRequestId()
  const what = `the call of tool "${tool}"`
  const fields = { requestId, from: OWN_NAME, tool, input }
  return {
    what,
    message: checked(what, { type: 'tool_request', ...fields }),
    isSafe: false,
    reply(message) {
      if (message.type !== 'tool_response' || message.requestId !== requestId) return undefined
      if (message.status === 'REJECTED') throw refusal(what, coded(message.error))
      return { value: message }
    },
  }
}

/** Chooses what the connection is sent; `onReply` is told before anything else comes. */
export function subscribeRequest(message: Subscribe, onReply: () => void): SocketRequest<void> {
  const what = message.runId === undefined ? 'a subscription' : `to follow run "${message.runId}"`
  return {
    what,
    message,
    isSafe: false,
    // What comes on a socket before it is lost to the one who follows.
    isFirst: true,
    mayFailWith: isNoReviewError,
    reply({ type }) {
      if (type !== 'subscribe_ack') return undefined
      onReply()
      return { value: undefined }
    },
  }
}

/** Asks for a page of runs. */
export function runsQuery(filter: StateQuery['filter']): SocketRequest<RunList> {
  return query(ROUTES.listRuns.response, { query: 'runs', filter })
}

/** Asks for one run. */
export function runQuery(runId: string): SocketRequest<RunDetail> {
  return query(ROUTES.getRun.response, { query: 'run_detail', runId })
}

/** Asks for what the server offers. */
export function capabilitiesQuery(): SocketRequest<Capabilities> {
  return query(ROUTES.getCapabilities.response, { query: 'capabilities' })
}

function query<S extends Schema>(
  schema: S,
  fields: Omit<Written<'state_query'>, 'type' | 'requestId'>,
): SocketRequest<ValueOf<S>> {
  const requestId = newRequestId()
  const what = `the query "${fields.query}"`
  return {
    what,
    message: checked(what, { ...fields, type: 'state_query', requestId }),
    isSafe: true,
    reply(message) {
      if (message.type !== 'state_response' || message.requestId !== requestId) return undefined
      const decoded = decode(schema, message.data)
      if (decoded.ok) return { value: decoded.value }
      throw misfit(`the answer to ${what}`, decoded)
    },
  }
}

/** An error about a review belongs to a decision; its own reply may have come before, as an event. */
function isNoReviewError({ error }: ErrorMessage): boolean {
  return error !== 'REVIEW_NOT_FOUND' && error !== 'REVIEW_RESOLVED'
}

/**
 * The message as it will be sent. It is checked here, as an answer to one that does not fit its schema could
 * not name it.
 *
 * @throws {TuttiClientError} BAD_REQUEST with every problem.
 */
function checked(what: string, message: object): ClientMessage {
  const decoded = decodeClientMessage(JSON.parse(JSON.stringify(message)))
  if (decoded.ok) return decoded.value
  const { problems } = decoded
  const list = problems.map(({ path, message: text }) => `${path} ${text}`.trim()).join('; ')
  throw new TuttiClientError('BAD_REQUEST', `Cannot send ${what}: ${list}`, { problems })
}
