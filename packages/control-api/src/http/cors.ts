/** CORS headers: which pages may call the server, and which headers they may send and read. Pure. */

const ALLOWED_METHODS = 'GET, POST, DELETE'
/**
 * Request headers that pages may send: all of them, because clients of other protocols send further ones, such as
 * `x-stainless-lang` of `openai`. The wildcard does not include `authorization`.
 */
const ALLOWED_HEADERS = 'authorization, *'
const EXPOSED_HEADERS =
  'location, tutti-run-id, retry-after, x-should-retry, a2a-extensions, mcp-session-id'

/** Time for which a browser may cache the response to a preflight, in seconds. */
const MAX_AGE_S = '600'

/**
 * Returns the CORS headers of a response. `Vary` is always present, because a cached response for one origin is invalid
 * for others. For an origin that is not allowed it is the only header, so the browser hides the response from the page.
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

/** Returns whether a request is a CORS preflight. */
export function isPreflight(method: string, headers: Headers): boolean {
  return (
    method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')
  )
}

/** Returns the headers of the response to a preflight in addition to those of every response. */
export function preflightHeaders(headers: Headers): Readonly<Record<string, string>> {
  return {
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': MAX_AGE_S,
    // Required when a page of the public web calls a server in a private network.
    ...(headers.get('access-control-request-private-network') === 'true'
      ? { 'access-control-allow-private-network': 'true' }
      : {}),
  }
}
