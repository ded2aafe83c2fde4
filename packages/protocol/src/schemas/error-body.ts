/** How every refusal looks, over REST and, with a `type`, over the WebSocket. */
import Type from 'typebox'
import { ERROR_CODES, type ErrorCode } from '../error-codes.ts'
import { DurationMs } from './scalars.ts'
import { Problem } from './problem.ts'

/** One of the codes of `ERROR_CODES`. */
export const ErrorCodeName = Type.Unsafe<ErrorCode>(Type.Enum(Object.keys(ERROR_CODES)))
export type ErrorCodeName = Type.Static<typeof ErrorCodeName>

/** The fields of a refusal, shared by the REST body and the `error` message. */
export const errorFields = {
  error: ErrorCodeName,
  /** For people: what was refused and why, with the wanted and the given value. */
  message: Type.String(),
  /** Every place of the body that does not fit, when that is the reason. */
  problems: Type.Optional(Type.Array(Problem)),
  /** How long to wait before trying again, when that can help. */
  retryAfterMs: Type.Optional(DurationMs),
  /** The request's id: the server's log has the rest under it, and over the WebSocket it is the client's own. */
  requestId: Type.Optional(Type.String()),
}

/** Body of every answer from 400 up. Control API seed §4.1; `problems` and `requestId` are ours. */
export const ErrorBody = Type.Object(errorFields)
export type ErrorBody = Type.Static<typeof ErrorBody>
