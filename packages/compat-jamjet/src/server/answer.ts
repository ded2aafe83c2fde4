/**
 * Answers of the wire: bare, or as JSON-RPC responses to requests with an id.
 *
 * A refusal has its usual HTTP status, also as a JSON-RPC error, because callers of this wire check the status first.
 *
 * @see https://www.jsonrpc.org/specification#error_object
 */
import { errorHeaders, toResponse, reportError } from '@tutti/gateway/internal'

import type { ErrorReporting, RouteAnswer, WireError } from '@tutti/gateway/internal'
import type { Envelope } from './request.ts'
import type { ErrorCode } from '@tutti/protocol'

/** Wraps a value as the body of an answer. */
export function wrapResult<Value>(
  { rpcId }: Envelope,
  result: Value,
): Value | { readonly jsonrpc: '2.0'; readonly id: unknown; readonly result: Value } {
  return rpcId === undefined ? result : { jsonrpc: '2.0', id: rpcId, result }
}

export function answerValue(envelope: Envelope, value: object, status = 200): Response {
  return Response.json(wrapResult(envelope, value), { status })
}

/** Answers with an error; `more` is added to its body, or to the `data` of the JSON-RPC error. */
export function answerRefusal({ rpcId }: Envelope, refusal: WireError, more = {}): Response {
  const { status, body } = refusal
  const wire = { ...refusal, body: { ...body, ...more } }
  if (rpcId === undefined) return toResponse(wire)
  const error = { code: chooseRpcCode(wire), message: body.message, data: wire.body }
  const headers = errorHeaders(wire)
  return Response.json({ jsonrpc: '2.0', id: rpcId, error }, { status, headers })
}

/** Answers with the result of `work`, or with its error in the form of the envelope. */
export async function answerErrors(
  envelope: Envelope,
  options: ErrorReporting,
  work: () => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  try {
    return await work()
  } catch (error) {
    // A bare error is handled like that of other routes, so that the audit trail has its code.
    if (envelope.rpcId === undefined) throw error
    return answerRefusal(envelope, reportError(error, options))
  }
}

/** Error code → JSON-RPC code of A2A. */
const RPC_CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  RUN_NOT_FOUND: -32_001,
  RUN_COMPLETED: -32_002,
}
const [INVALID_REQUEST, INVALID_PARAMS, FAULT, REFUSED] = [-32_600, -32_602, -32_603, -32_000]

function chooseRpcCode({ status, body: { error, problems = [] } }: WireError): number {
  const known = RPC_CODES[error]
  if (known !== undefined) return known
  if (status >= 500) return FAULT
  if (error !== 'BAD_REQUEST') return REFUSED
  const isOutside = problems.some(({ path }) => /^\/(?:jsonrpc|method|id|params)$/.test(path))
  return isOutside ? INVALID_REQUEST : INVALID_PARAMS
}
