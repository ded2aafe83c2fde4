/** The one place where what was thrown becomes what the caller gets, over HTTP and WebSocket alike. */
import { toWireError, type WireError } from './api-error.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Logger } from '@tutti/core'
import type { ErrorBody } from '@tutti/protocol'

/** Turns anything that was thrown into its wire form; faults of ours are logged under the id they carry. */
export function wireErrorOf(
  error: unknown,
  { logger, redactor }: Pick<ResolvedControlApiOptions, 'logger' | 'redactor'>,
): WireError {
  return redactor.value(toWireError(error) ?? fault(error, logger))
}

function fault(error: unknown, logger: Logger): WireError {
  const requestId = crypto.randomUUID()
  logger.error('A request failed', { requestId, error })
  const message = `Something went wrong in the server; its log has the reason under ${requestId}`
  return { status: 500, body: { error: 'INTERNAL', message, requestId } }
}

/** A response with an error body, and the headers that go with its code. */
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

/** Statuses after which nothing more can be read: the rest of the request was not. */
const UNREAD: readonly number[] = [408, 413, 431]

/** The headers that go with an error. */
export function errorHeaders({ status, body }: WireError): Readonly<Record<string, string>> {
  const { retryAfterMs } = body
  return {
    ...(retryAfterMs === undefined
      ? {}
      : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
    ...(UNREAD.includes(status) ? { connection: 'close' } : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  }
}
