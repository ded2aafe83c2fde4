/** Pure: reads headers of requests. */
import { traceContextOf, type TraceContext } from '@tutti/core/internal'

import { badRequest } from './api-error.ts'

/** 1 to 255 visible ASCII characters, which need no encoding in a header. */
const KEY = /^[\x21-\x7e]{1,255}$/

/**
 * Returns the idempotency key of a request; undefined when there is none.
 *
 * @throws {TuttiError} BAD_REQUEST when it is invalid.
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (KEY.test(key)) return key
  const message = `must be 1 to 255 visible ASCII characters, got ${JSON.stringify(key)}`
  throw badRequest('Idempotency-Key header', [{ path: '', message }])
}

/**
 * Returns the trace context of a request. Repeated headers arrive as a list, which is valid for `tracestate` and
 * invalid for `traceparent`.
 *
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function readTrace(headers: Headers): TraceContext {
  return traceContextOf(headers.get('traceparent'), headers.get('tracestate'))
}
