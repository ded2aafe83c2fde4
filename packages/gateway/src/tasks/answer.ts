/**
 * Answers of the wire: bare, or as JSON-RPC responses to those who sent an id.
 *
 * A refusal has the HTTP status that it has everywhere, also as a JSON-RPC error: callers of this wire look
 * at the status first.
 *
 * @see https://www.jsonrpc.org/specification#error_object
 */
import { errorHeaders, toResponse, wireErrorOf } from '../http/on-error.ts'

import type { WireError } from '../http/api-error.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { Envelope } from './read-envelope.ts'
import type { ErrorCode } from '@tutti/protocol'

/** A value as the body of an answer. */
export function wrapped<Value>(
  { rpcId }: Envelope,
  result: Value,
): Value | { readonly jsonrpc: '2.0'; readonly id: unknown; readonly result: Value } {
  return rpcId === undefined ? result : { jsonrpc: '2.0', id: rpcId, result }
}

/** An answer with a value. */
export function answer(envelope: Envelope, value: object, status = 200): Response {
  return Response.json(wrapped(envelope, value), { status })
}

/** An answer with an error; `more` stands in its body, or in the `data` of the JSON-RPC error. */
export function refusal({ rpcId }: Envelope, { status, body }: WireError, more = {}): Response {
  const wire = { status, body: { ...body, ...more } }
  if (rpcId === undefined) return toResponse(wire)
  const error = { code: rpcCode(wire), message: body.message, data: wire.body }
  const headers = errorHeaders(wire)
  return Response.json({ jsonrpc: '2.0', id: rpcId, error }, { status, headers })
}

/** What `work` answers; what it throws becomes the answer that the envelope asks for. */
export async function answering(
  envelope: Envelope,
  options: Pick<GatewayOptions, 'logger' | 'redactor' | 'metrics'>,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    // Bare, it is answered like every other; the audit trail then has its code.
    if (envelope.rpcId === undefined) throw error
    return refusal(envelope, wireErrorOf(error, options))
  }
}

/** Codes of JSON-RPC, and of A2A where it has one. */
const RPC_CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  RUN_NOT_FOUND: -32_001,
  RUN_COMPLETED: -32_002,
}
const [INVALID_REQUEST, INVALID_PARAMS, FAULT, REFUSED] = [-32_600, -32_602, -32_603, -32_000]

function rpcCode({ status, body: { error, problems = [] } }: WireError): number {
  const known = RPC_CODES[error]
  if (known !== undefined) return known
  if (status >= 500) return FAULT
  if (error !== 'BAD_REQUEST') return REFUSED
  const isOutside = problems.some(({ path }) => /^\/(?:jsonrpc|method|id|params)$/.test(path))
  return isOutside ? INVALID_REQUEST : INVALID_PARAMS
}
