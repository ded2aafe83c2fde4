/** Error body of REST responses, and of the `error` message over WebSocket. */
import Type from 'typebox'
import { ERROR_CODES, type ErrorCode } from '../error-codes.ts'
import { DurationMs } from './scalars.ts'
import { Problem } from './problem.ts'

import type { Static } from '../static.ts'

/** A code of `ERROR_CODES`. */
export const ErrorCodeName = Type.Unsafe<ErrorCode>(Type.Enum(Object.keys(ERROR_CODES)))
export type ErrorCodeName = Static<typeof ErrorCodeName>

/** Fields of an error, shared by the REST body and the `error` message. */
export const errorFields = {
  error: ErrorCodeName,
  /** Readable description: what was refused and why, with the expected and the actual value. */
  message: Type.String(),
  /** Every invalid value in the request; present when validation failed. */
  problems: Type.Optional(Type.Array(Problem)),
  /** Milliseconds to wait before a retry; absent when a retry does not help. */
  retryAfterMs: Type.Optional(DurationMs),
  /** Id of the request, under which the server logs details. Over WebSocket, the client's own `requestId`. */
  requestId: Type.Optional(Type.String()),
}

/** Body of every response with a status of 400 or above. */
export const ErrorBody = Type.Object(errorFields)
export type ErrorBody = Static<typeof ErrorBody>
