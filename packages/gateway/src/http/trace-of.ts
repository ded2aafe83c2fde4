/** Pure: the trace that a request belongs to. */
import { traceContextOf, type TraceContext } from '@tutti/core'

/**
 * What `traceparent` and `tracestate` of the request say, for what is done for it. A header that comes more than once
 * is a list by now: a `tracestate` may be one, a `traceparent` is none then, as W3C has it.
 *
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function traceOf(headers: Headers): TraceContext {
  return traceContextOf(headers.get('traceparent'), headers.get('tracestate'))
}
