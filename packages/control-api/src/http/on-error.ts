/** The one place where what was thrown becomes what the caller gets, over HTTP and WebSocket alike. */
import { toWireError, type WireError } from './api-error.ts'

import type { Logger } from '@tutti/core'
import type { ErrorBody } from '@tutti/protocol'

/** Turns anything that was thrown into its wire form; faults of ours are logged under the id they carry. */
export function wireErrorOf(error: unknown, logger: Logger): WireError {
  return toWireError(error) ?? fault(error, logger)
}

function fault(error: unknown, logger: Logger): WireError {
  const requestId = crypto.randomUUID()
  logger.error('A request failed', { requestId, error })
  const message = `Something went wrong in the server; its log has the reason under ${requestId}`
  return { status: 500, body: { error: 'INTERNAL', message, requestId } }
}

/** A response with an error body, and the headers that go with its code. */
export function toResponse({ status, body }: WireError, headers: HeadersInit = {}): Response {
  const response = Response.json(body satisfies ErrorBody, { status, headers })
  if (body.retryAfterMs !== undefined) {
    response.headers.set('retry-after', String(Math.ceil(body.retryAfterMs / 1000)))
  }
  // The rest of a body that is too large is not read, so the connection cannot be used again.
  if (status === 413) response.headers.set('connection', 'close')
  if (status === 401) response.headers.set('www-authenticate', 'Bearer')
  return response
}
