/**
 * Follows redirects.
 *
 * NET-D1 A 303 continues with GET, as do 301 and 302 after a POST; the body and its headers are dropped.
 * NET-D2 Secrets stay within their origin: another origin gets only headers that negotiate the response or describe the
 *    body.
 * NET-D3 A redirect from https to http is refused.
 * NET-D4 With `sameOrigin`, a redirect to another origin is refused, and a redirect that would change the method is
 *    returned as the response, because a GET would not carry the caller's request.
 *
 * @see https://fetch.spec.whatwg.org/#http-redirect-fetch
 */
import { TuttiError } from '@tutti/core'

import { NetworkError } from './network-error.ts'

import type { OutgoingRequest, HttpResponse } from './connections.ts'

/** The part of a request that a redirect may change. */
export type Hop = Pick<OutgoingRequest, 'url' | 'method' | 'headers' | 'body'>

export interface RedirectPolicy {
  /** Maximum number of redirects to follow; 0 makes a redirect an error, undefined returns it as the response. */
  readonly maxRedirects: number | undefined
  /** Whether to follow only redirects that keep the origin and the method. */
  readonly sameOrigin: boolean
}

/** Sends a request and follows redirects; resolves with the first other response and its URL. */
export async function followRedirects(
  first: Hop,
  send: (hop: Hop) => Promise<HttpResponse>,
  { maxRedirects, sameOrigin }: RedirectPolicy,
): Promise<{ readonly response: HttpResponse; readonly url: URL }> {
  let hop = first
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(hop)
    const target =
      maxRedirects === undefined ? undefined : readRedirectTarget(response.status, response.headers)
    const isFinal =
      target === undefined || (sameOrigin && changesMethod(response.status, hop.method))
    if (isFinal) return { response, url: hop.url }
    response.body.destroy()
    if (redirects === maxRedirects) {
      throw new NetworkError('invalid', `more than ${maxRedirects} redirects`)
    }
    const next = toNextHop(hop, { status: response.status, target })
    if (sameOrigin && next.url.origin !== hop.url.origin) throw otherOriginError(hop.url, next.url)
    hop = next
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Headers that describe the body. */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
])

/** Headers without secrets, which every server may get. */
const HARMLESS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'user-agent',
])

/** Returns the target of a redirect as sent; undefined for another response. */
export function readRedirectTarget(status: number, headers: Headers): string | undefined {
  const location = REDIRECTS.has(status) ? headers.get('location') : null
  if (location === null) return undefined
  // Node decodes header values as Latin-1, but servers send UTF-8.
  return Buffer.from(location, 'latin1').toString('utf8')
}

/**
 * Returns the request that follows a redirect.
 *
 * @throws {NetworkError} when the target is not a URL.
 * @throws {TuttiError} TOOL_FAILED when it leads from https to http.
 */
export function toNextHop(
  hop: Hop,
  { status, target }: { readonly status: number; readonly target: string },
): Hop {
  const url = URL.parse(target, hop.url)
  if (url === null) throw new NetworkError('invalid', 'redirected to an invalid URL')
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new TuttiError(
      'TOOL_FAILED',
      `Refused to follow a redirect from https to http (${url.host})`,
    )
  }
  const becomesGet = changesMethod(status, hop.method)
  const isSameOrigin = hop.url.origin === url.origin
  const headers = Object.entries(hop.headers).filter(([name]) =>
    BODY_HEADERS.has(name) ? !becomesGet : isSameOrigin || HARMLESS.has(name),
  )
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers: Object.fromEntries(headers),
    ...(hop.body === undefined || becomesGet ? {} : { body: hop.body }),
  }
}

function changesMethod(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return (status === 301 || status === 302) && method === 'POST'
}

function otherOriginError({ origin, pathname }: URL, target: URL): TuttiError {
  return new TuttiError(
    'TOOL_FAILED',
    `Refused a redirect from ${origin}${pathname} to another origin (${target.origin}); ` +
      'if the server has moved, use its new address',
  )
}
