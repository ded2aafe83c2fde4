/** Maps thrown errors to wire errors, for HTTP and WebSocket. */
import { TuttiError } from '@tutti/core'

import { toWireError, type WireError } from './api-error.ts'
import { limitBody } from './error-limits.ts'

import type { Logger } from '@tutti/core'
import type { ErrorBody } from '@tutti/protocol'

/** Counts errors by code. */
export interface ErrorMetrics {
  readonly instruments: {
    readonly errorsAnswered: { add(labels: { readonly code: string }): void }
    readonly tooMany: { add(labels: { readonly reason: string }): void }
  }
}

/** Removes secrets from texts and values. */
export interface Redactor {
  /** Returns `text` with every secret replaced; the same text when it has none. */
  text(text: string): string
  /**
   * Returns `value` with every secret replaced in its texts and field names; the identical value when it has none. Only
   * JSON values are searched.
   */
  value<T>(value: T): T
}

/** Logs, counts and redacts errors. */
export interface ErrorReporting {
  readonly logger: Logger
  readonly redactor: Redactor
  readonly metrics: ErrorMetrics
}

/** Maps a thrown error to its wire form and counts it; an internal error is logged with its request id. */
export function reportError(
  error: unknown,
  { logger, redactor, metrics }: ErrorReporting,
): WireError {
  const wire = toWireError(error) ?? toInternalError(error, logger)
  countError(error, wire, metrics)
  // Cut after redaction, because a part of a secret would not be recognized.
  const { body, ...rest } = redactor.value(wire)
  return { ...rest, body: limitBody(body) }
}

function countError(
  error: unknown,
  { status, body }: WireError,
  { instruments }: ErrorMetrics,
): void {
  instruments.errorsAnswered.add({ code: body.error })
  if (status !== TOO_MANY) return
  const reason = TuttiError.isInstance(error) ? error.details?.['reason'] : undefined
  const known = TOO_MANY_REASONS.find((named) => named === reason)
  // For the spending limit of a key, the code is the reason.
  instruments.tooMany.add({ reason: known ?? body.error.toLowerCase() })
}

/** Status of requests beyond a limit. */
const TOO_MANY = 429

/** Limits that errors name in their details. */
const TOO_MANY_REASONS = [
  'connections',
  'websockets',
  'wrong_keys',
  'requests_of_key',
  'unfinished_runs',
  'unfinished_runs_of_key',
  'tool_calls',
  'mcp_sessions',
] as const

function toInternalError(error: unknown, logger: Logger): WireError {
  const requestId = crypto.randomUUID()
  logger.error('Request failed', { requestId, error })
  const message = `Internal server error; the server log has the cause under ${requestId}`
  return { status: 500, body: { error: 'INTERNAL', message, requestId } }
}

/** Returns a response with an error body and the headers of its code. */
export function toResponse(
  error: WireError,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { status, body } = error
  return Response.json(body satisfies ErrorBody, {
    status,
    headers: { ...errorHeaders(error), ...headers },
  })
}

/**
 * Returns the headers of an error. A body that is too large does not close the connection: closing while the client
 * still sends resets the connection, and the client may not see the response. The server discards the rest.
 */
export function errorHeaders({
  status,
  body,
  challenge,
}: WireError): Readonly<Record<string, string>> {
  const { retryAfterMs } = body
  return {
    ...(retryAfterMs === undefined
      ? {}
      : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
    ...(status === 408 ? { connection: 'close' } : {}),
    ...(challenge === undefined ? {} : { 'www-authenticate': challenge }),
  }
}
