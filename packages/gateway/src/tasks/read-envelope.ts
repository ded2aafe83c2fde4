/**
 * Pure: reads a body of the wire.
 *
 * E1 A body with a JSON-RPC `id` is answered with a JSON-RPC response, one without it with the bare result.
 *    JamJet sends the envelope without an id: that is no notification, and is answered too.
 * E2 Everything that does not fit is named at once.
 */
import { Type, type Static, type TObject } from '@tutti/core'
import { decode, type Problem } from '@tutti/protocol'

import { badRequest } from '../http/api-error.ts'
import { RpcId, type Part, type SendParams } from './message-schema.ts'

/** The part of a body that is about the answer. */
export interface Envelope {
  /** Of the JSON-RPC request; absent when the answer is to be bare. */
  readonly rpcId?: RpcId
}

/** How the answer to a body is wrapped, as far as the body tells. */
export function envelopeOf(body: Readonly<Record<string, unknown>>): Envelope {
  const { id } = body
  const isRpc = ['jsonrpc', 'method', 'params'].some((field) => Object.hasOwn(body, field))
  const decoded = decode(RpcId, id)
  return isRpc && decoded.ok ? { rpcId: decoded.value } : {}
}

/**
 * The parameters of a body, checked.
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
  const given = envelope.ok ? envelope.value.params : paramsOf(body)
  const decoded = given === undefined ? undefined : decode(params, given)
  const inside = decoded === undefined || decoded.ok ? [] : decoded.problems.map(insideParams)
  const problems = [...(envelope.ok ? [] : envelope.problems), ...inside]
  if (decoded?.ok === true && problems.length === 0) return decoded.value
  throw badRequest('Request body', problems)
}

function paramsOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'params' in body ? body.params : undefined
}

function insideParams(problem: Problem): Problem {
  return { ...problem, path: `/params${problem.path}` }
}

/**
 * Refuses what the schema cannot say.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function assertSendable(params: SendParams): void {
  const { id, message } = params
  const parts = message?.parts ?? []
  const problems = parts.flatMap((part, index) =>
    partProblems(part, `/params/message/parts/${index}`),
  )
  if (Object.hasOwn(params, 'pushNotification')) {
    const text = 'must be left out: this wire sends no notifications; webhooks of the operator do'
    problems.push({ path: '/params/pushNotification', message: text })
  }
  const taskId = message?.taskId ?? id
  if (taskId === undefined && message === undefined) {
    problems.push({ path: '/params/message', message: 'is required without the id of a task' })
  }
  if (id !== undefined && taskId !== id) {
    const text = `must be the same task as /params/id "${id}", got "${taskId}"`
    problems.push({ path: '/params/message/taskId', message: text })
  }
  if (problems.length > 0) throw badRequest('Request body', problems)
}

function partProblems({ type, kind, text, data }: Part, path: string): Problem[] {
  const [has, lacks] = [text !== undefined, data !== undefined]
  if (has === lacks) {
    return [{ path, message: 'must have either text or data; files are not taken here' }]
  }
  const is = has ? 'text' : 'data'
  return Object.entries({ type, kind }).flatMap(([field, said]) =>
    said === undefined || said === is
      ? []
      : [{ path: `${path}/${field}`, message: `must be "${is}", as the part has ${is}` }],
  )
}
