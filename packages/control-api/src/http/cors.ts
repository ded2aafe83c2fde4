/** Pure: what tells a browser that a page of another origin may call, and what it may send and see. */

const ALLOWED_METHODS = 'GET, POST, DELETE'
/** What the control API reads, A2A and MCP among it. */
const ALLOWED_HEADERS =
  'authorization, content-type, idempotency-key, last-event-id, traceparent, tracestate, a2a-version, a2a-extensions, ' +
  'mcp-session-id, mcp-protocol-version, mcp-method, mcp-name'
const EXPOSED_HEADERS = 'location, retry-after, a2a-extensions, mcp-session-id'

/** How long a browser may remember an answer to a preflight, in seconds. */
const MAX_AGE_S = '600'

/**
 * The headers of every answer to `origin`. `Vary` is always there: what a cache keeps for one origin is
 * not for another. A page that is not allowed gets no other header, so that its browser shows it nothing.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function corsHeaders(
  origin: string | undefined,
  isAllowed: boolean,
): Readonly<Record<string, string>> {
  if (origin === undefined || !isAllowed) return { vary: 'Origin' }
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
  }
}

/** Whether a request only asks what may be asked. */
export function isPreflight(method: string, headers: Headers): boolean {
  return (
    method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')
  )
}

/** The headers of the answer to a preflight, beside those of every answer. */
export function preflightHeaders(headers: Headers): Readonly<Record<string, string>> {
  return {
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': MAX_AGE_S,
    // Pages of the public web need it for a server in a private network.
    ...(headers.get('access-control-request-private-network') === 'true'
      ? { 'access-control-allow-private-network': 'true' }
      : {}),
  }
}
