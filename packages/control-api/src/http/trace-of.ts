/** Pure: the trace that a request belongs to. */
import { isTraceparent } from '@tutti/core'

/**
 * What `traceparent` of the request says, for the run that it asks for. One that is not as it should be is none, as
 * W3C has it.
 *
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function traceOf(headers: Headers): { readonly traceparent?: string } {
  const traceparent = headers.get('traceparent')
  return traceparent !== null && isTraceparent(traceparent) ? { traceparent } : {}
}
