/**
 * Pure: reads requests of the wire.
 *
 * JAM-D1 A body with a JSON-RPC `id` is answered with a JSON-RPC response, any other with the bare result. JamJet sends
 *    the envelope without an id; that is not a notification and is answered too.
 * JAM-D2 A refusal names every problem at once.
 */
import { Type, type Static } from '@tutti/core'
import type { TObject } from '@tutti/core/internal'
import { decode, type ReviewDecisionBody } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

import { badRequest, readMessageDecision, type ReviewAsked } from '@tutti/gateway/internal'
import { CancelParams, RpcId, type TasksSendParams, type TextPart } from './wire.ts'

/** The part of a body that determines the form of the answer. */
export interface Envelope {
  /** Id of the JSON-RPC request; absent for a bare answer. */
  readonly rpcId?: RpcId
}

/** Reads the envelope of a body. */
export function readEnvelope(body: Readonly<Record<string, unknown>>): Envelope {
  const { id } = body
  const isRpc = ['jsonrpc', 'method', 'params'].some((field) => Object.hasOwn(body, field))
  const decoded = decode(RpcId, id)
  return isRpc && decoded.ok ? { rpcId: decoded.value } : {}
}

/**
 * Reads the parameters of a body.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function readParams<Params extends TObject>(
  body: unknown,
  method: string,
  params: Params,
): Static<Params> {
  const schema = Type.Object({
    jsonrpc: Type.Optional(Type.Literal('2.0')),
    method: Type.Optional(Type.Literal(method)),
    id: Type.Optional(RpcId),
    params: Type.Unknown(),
  })
  const envelope = decode(schema, body)
  const given = envelope.ok ? envelope.value.params : extractParams(body)
  const decoded = given === undefined ? undefined : decode(params, given)
  const inside = decoded === undefined || decoded.ok ? [] : decoded.problems.map(insideParams)
  const problems = [...(envelope.ok ? [] : envelope.problems), ...inside]
  if (decoded?.ok === true && problems.length === 0) return decoded.value
  throw badRequest('request body', problems)
}

function extractParams(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'params' in body ? body.params : undefined
}

function insideParams(problem: Problem): Problem {
  return { ...problem, path: `/params${problem.path}` }
}

/** Reads the parameters of a cancel. JamJet sends only the id; others send an envelope. */
export function readCancel(body: Readonly<Record<string, unknown>>): CancelParams {
  const isBare = !['jsonrpc', 'method', 'params'].some((field) => Object.hasOwn(body, field))
  if (!isBare) return readParams(body, 'tasks/cancel', CancelParams)
  const decoded = decode(CancelParams, body)
  if (decoded.ok) return decoded.value
  throw badRequest('request body', decoded.problems)
}

/**
 * Checks rules that the schema cannot express.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function assertSendable(params: TasksSendParams): void {
  const { id, message } = params
  const parts = message?.parts ?? []
  const problems = parts.flatMap((part, index) =>
    findPartProblems(part, `/params/message/parts/${index}`),
  )
  if (Object.hasOwn(params, 'pushNotification')) {
    const text =
      'must be absent: push notifications are not supported; the operator can configure webhooks'
    problems.push({ path: '/params/pushNotification', message: text })
  }
  const taskId = message?.taskId ?? id
  if (taskId === undefined && message === undefined) {
    problems.push({ path: '/params/message', message: 'is required without a task id' })
  }
  if (id !== undefined && taskId !== id) {
    const text = `must be the same task as /params/id "${id}", got "${taskId}"`
    problems.push({ path: '/params/message/taskId', message: text })
  }
  if (problems.length > 0) throw badRequest('request body', problems)
}

function findPartProblems({ type, kind, text, data }: TextPart, path: string): Problem[] {
  const [has, lacks] = [text !== undefined, data !== undefined]
  if (has === lacks) {
    return [{ path, message: 'must have either text or data; files are not supported' }]
  }
  const is = has ? 'text' : 'data'
  return Object.entries({ type, kind }).flatMap(([field, value]) =>
    value === undefined || value === is
      ? []
      : [{ path: `${path}/${field}`, message: `must be "${is}", as the part has ${is}` }],
  )
}

export interface MessageText {
  /** Text as sent: data as JSON, one line for each part. */
  readonly raw: string
  /** Text with a JSON string replaced by its value, and `{}` and `null` by an empty text. */
  readonly text: string
  /** Object, if the message is its JSON. */
  readonly object?: Readonly<Record<string, unknown>>
}

/**
 * Reads the parts of a message. JamJet sends its input as compact JSON: a text in quotes, and `{}` for no input. Other
 * callers send plain text.
 */
export function readMessage(parts: readonly TextPart[]): MessageText {
  const raw = parts.map(({ text, data }) => text ?? JSON.stringify(data)).join('\n')
  const value = parseOrUndefined(raw)
  if (typeof value === 'string') return { raw, text: value }
  if (value === null) return { raw, text: '' }
  if (typeof value !== 'object' || Array.isArray(value)) return { raw, text: raw }
  // NOTE: a JSON object has text keys.
  const object = value as Record<string, unknown>
  return { raw, text: Object.keys(object).length === 0 ? '' : raw, object }
}

/**
 * Reads a message as the decision of a review. As the input of a tool, text that is not JSON becomes a JSON string.
 *
 * @throws {TuttiError} BAD_REQUEST if it does not decide the review.
 */
export function readTasksDecision(
  { raw, text, object }: MessageText,
  review: ReviewAsked,
): ReviewDecisionBody {
  const isDecision = object !== undefined && Object.hasOwn(object, 'decision')
  const message = {
    object: isDecision ? object : undefined,
    answer: text.trim() === '' ? undefined : text,
    text,
    toolInput: parseOrUndefined(raw) === undefined ? JSON.stringify(text) : raw,
    path: '/params/message',
  }
  return readMessageDecision(message, review)
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
