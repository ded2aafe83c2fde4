/**
 * Where a redirect leads, and what is sent there. Pure.
 *
 * D1 303 asks with GET, and so do 301 and 302 after a POST; the body and what describes it stay behind.
 * D2 What might be secret does not leave its origin: to another one go only headers that say what
 *    kind of answer is wanted, and what describes the body.
 * D3 From https there is no way to http.
 *
 * @see https://fetch.spec.whatwg.org/#http-redirect-fetch
 */
import { TuttiError } from '@tutti/core'

/** What a redirect may change about a request. */
export interface Hop {
  readonly url: URL
  readonly method: string
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Headers that describe the body. */
const OF_BODY: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-type',
])

/** Headers that are the same for everybody. */
const HARMLESS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'user-agent',
])

/** The place that an answer redirects to, as it is written; undefined when it is no redirect. */
export function redirectTarget(status: number, headers: Headers): string | undefined {
  const location = REDIRECTS.has(status) ? headers.get('location') : null
  if (location === null) return undefined
  // Headers are read byte by byte, and servers write UTF-8.
  return Buffer.from(location, 'latin1').toString('utf8')
}

/**
 * The request that follows a redirect.
 *
 * @throws {TuttiError} TOOL_FAILED when the target is no URL, or leads from https to http.
 */
export function nextHop(
  hop: Hop,
  { status, target }: { readonly status: number; readonly target: string },
): Hop {
  const url = URL.parse(target, hop.url)
  if (url === null)
    throw new TuttiError('TOOL_FAILED', 'Cannot follow a redirect to an invalid URL')
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new TuttiError(
      'TOOL_FAILED',
      `Refused to follow a redirect from https to http (${url.host})`,
    )
  }
  const { method } = hop
  const becomesGet =
    (status === 303 && method !== 'GET' && method !== 'HEAD') ||
    ((status === 301 || status === 302) && method === 'POST')
  const isSameOrigin = hop.url.origin === url.origin
  const headers = Object.entries(hop.headers).filter(([name]) =>
    OF_BODY.has(name) ? !becomesGet : isSameOrigin || HARMLESS.has(name),
  )
  return {
    url,
    method: becomesGet ? 'GET' : method,
    headers: Object.fromEntries(headers),
    ...(hop.body === undefined || becomesGet ? {} : { body: hop.body }),
  }
}
