/** Pure: converts commands to messages, and their replies to those of REST. */
import {
  decode,
  decodeClientMessage,
  type ClientMessage,
  type ErrorMessage,
  type RunCommandKind,
  type RunControlAck,
  type ServerMessage,
  type Subscribe,
} from '@tutti/protocol'

import {
  COMMAND_REPLIES,
  type CommandRequest,
  type CommandBodies,
  type CommandReply,
  type Loose,
} from '../commands.ts'
import { TuttiClientError, type ClientErrorCode } from '../errors.ts'
import { badResponseError } from '../http/read-answer.ts'
import { refusalError, type SocketRequest } from './requests.ts'

type ToMessage<K extends RunCommandKind> = (target: string, body: Loose<CommandBodies[K]>) => object

/** Kind of command → its message; JSON omits fields that are undefined. */
const MESSAGES: { readonly [K in RunCommandKind]: ToMessage<K> } = {
  cancel: (runId, body) => ({ type: 'run_control', runId, action: 'cancel', ...body }),
  switch_model: (runId, body) => ({ type: 'run_control', runId, action: 'switch_model', ...body }),
  inject: (runId, { target: to, ...body }) => ({ type: 'directive', runId, to, ...body }),
  decide: (reviewId, body) => ({ type: 'review_decision', reviewId, ...body }),
}

/** AgentEnsemble's status of a refused run control → error code. */
const CONTROL_CODES: Partial<Record<RunControlAck['status'], ClientErrorCode>> = {
  NOT_FOUND: 'RUN_NOT_FOUND',
  NOT_RUNNING: 'RUN_NOT_RUNNING',
  INVALID_MODEL: 'INVALID_MODEL',
  NOT_CONFIGURED: 'NOT_CONFIGURED',
}

/** Converts a command to a request. @throws {TuttiClientError} BAD_REQUEST when it does not match its schema. */
export function commandRequest<K extends RunCommandKind>({
  kind,
  target,
  body,
}: CommandRequest<K>): SocketRequest<CommandReply<K>> {
  const what =
    kind === 'decide' ? `the decision of review "${target}"` : `${kind} of run "${target}"`
  const message = checkMessage(what, MESSAGES[kind](target, body))
  return {
    what,
    message,
    mayFailWith: kind === 'decide' ? undefined : isNoReviewError,
    reply(received) {
      const reply = findReply(message, received, what)
      if (reply === undefined) return undefined
      const decoded = decode(COMMAND_REPLIES[kind], reply)
      if (decoded.ok) return { value: decoded.value }
      throw badResponseError(`the reply to ${what}`, decoded)
    },
  }
}

/** Returns the reply to `message` in the form of REST; undefined when `received` is not its reply. */
function findReply(message: ClientMessage, received: ServerMessage, what: string): unknown {
  switch (message.type) {
    case 'run_control': {
      if (received.type !== 'run_control_ack') return undefined
      if (received.runId !== message.runId || received.action !== message.action) return undefined
      const { runId, status, model, tier, previousModel, message: reason = status } = received
      const isDone = status === 'CANCELLING' || status === 'CANCELLED' || status === 'APPLIED'
      if (!isDone) throw refusalError(what, reason, { code: CONTROL_CODES[status] })
      return { runId, status, model, tier, previousModel }
    }
    case 'directive': {
      if (received.type !== 'directive_ack') return undefined
      const { directiveId, message: reason = 'no reason given' } = received
      if (directiveId === null) throw refusalError(what, reason)
      return { directiveId, status: 'ACTIVE' }
    }
    case 'review_decision': {
      if (received.type !== 'review_decision_ack') return undefined
      if (received.reviewId !== message.reviewId) return undefined
      const { type: _type, ...applied } = received
      return applied
    }
    default:
      return undefined
  }
}

/** Returns the request for a subscription; `onReply` is called before any other message is received. */
export function subscribeRequest(message: Subscribe, onReply: () => void): SocketRequest<void> {
  const what =
    message.runId === undefined ? 'the subscription' : `the subscription to run "${message.runId}"`
  return {
    what,
    message,
    // Events that arrive before the subscription are lost to it.
    isFirst: true,
    mayFailWith: isNoReviewError,
    reply({ type }) {
      if (type !== 'subscribe_ack') return undefined
      onReply()
      return { value: undefined }
    },
  }
}

/** Whether an error is not about a review. Errors about reviews belong to decisions. */
function isNoReviewError({ error }: ErrorMessage): boolean {
  return error !== 'REVIEW_NOT_FOUND' && error !== 'REVIEW_RESOLVED'
}

/**
 * Validates a message before it is sent, because the error of the server could not name the command.
 *
 * @throws {TuttiClientError} BAD_REQUEST with every problem.
 */
function checkMessage(what: string, message: object): ClientMessage {
  const decoded = decodeClientMessage(JSON.parse(JSON.stringify(message)))
  if (decoded.ok) return decoded.value
  const { problems } = decoded
  const list = problems.map(({ path, message: text }) => `${path} ${text}`.trim()).join('; ')
  throw new TuttiClientError('BAD_REQUEST', `Cannot send ${what}: ${list}`, { problems })
}
