/**
 * Checks the media types that a request sends and accepts. Pure.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1
 */
import { assertJson } from '@tutti/gateway/internal'
import { TuttiError } from '@tutti/core'

/** One media range of an `Accept` header. */
export interface AcceptRange {
  /** Media range in lower case, such as `text/html` or a wildcard. */
  readonly type: string
  /** Quality from 0 (not acceptable) to 1. */
  readonly quality: number
  /** Whether the range has parameters other than `q`. */
  readonly isNarrowed: boolean
}

/** Parses an `Accept` header; ranges with a malformed quality are left out. */
export function parseAccept(accept: string | null): readonly AcceptRange[] {
  return (accept ?? '').split(',').flatMap(parseRange)
}

/** Matches a quality value, also without a leading zero, as Java's HttpURLConnection writes it. */
const QUALITY = /^(?:0(?:\.\d{0,3})?|\.\d{1,3}|1(?:\.0{0,3})?)$/

function parseRange(part: string): readonly AcceptRange[] {
  const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
  const isNarrowed = parameters.some((parameter) => !parameter.startsWith('q='))
  return QUALITY.test(weight) ? [{ type, quality: Number(weight), isNarrowed }] : []
}

const MEDIA_RANGE = /^[^\s/*]+\/(?:[^\s/*]+|\*)$|^\*\/\*$/

/** Maximum number of characters of a header that an error repeats. */
const MAX_SHOWN = 200

/**
 * Checks that an `Accept` header allows one of the media types that a route sends. Parameters such as
 * `version=0.0.4` are not compared. A header without a valid range allows everything.
 *
 * @throws {TuttiError} NOT_ACCEPTABLE.
 */
export function assertAcceptable(accept: string | null, mediaTypes: readonly string[]): void {
  if (accept === null) return
  const ranges = parseAccept(accept)
    .map((range) => (range.type === '*' ? { ...range, type: '*/*' } : range))
    .filter(({ type }) => MEDIA_RANGE.test(type))
  if (ranges.length === 0 || mediaTypes.some((type) => isAcceptable(type, ranges))) return
  const shown = accept.length > MAX_SHOWN ? `${accept.slice(0, MAX_SHOWN)}…` : accept
  throw new TuttiError(
    'NOT_ACCEPTABLE',
    `Accept must allow ${mediaTypes.join(' or ')}, got ${JSON.stringify(shown)}`,
  )
}

/** Returns whether a media type is acceptable; the most specific matching range decides. */
function isAcceptable(mediaType: string, ranges: readonly AcceptRange[]): boolean {
  const [major] = mediaType.split('/')
  for (const type of [mediaType, `${major}/*`, '*/*']) {
    // "text/plain; version=1; q=0" excludes that version, not all plain text.
    const found = ranges.filter(
      (range) => range.type === type && !(range.isNarrowed && range.quality === 0),
    )
    if (found.length > 0) return found.some(({ quality }) => quality > 0)
  }
  return false
}

/**
 * Returns whether an `Accept` header names HTML and prefers it to plain text, as browsers do. Clients that accept
 * anything, such as curl, do not name HTML.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1
 */
export function prefersHtml(accept: string | null): boolean {
  const ranges = parseAccept(accept)
  const html = findQuality('text/html', ranges)
  if (html === undefined || html === 0) return false
  const plain = ['text/plain', 'text/*', '*/*']
    .map((type) => findQuality(type, ranges))
    .find((quality) => quality !== undefined)
  return html >= (plain ?? 0)
}

/** Returns whether an `Accept` header names event streams and prefers them to JSON. */
export function prefersEvents(accept: string | null): boolean {
  if (accept === null || !accept.includes('event-stream')) return false
  const ranges = parseAccept(accept)
  const events = findQuality('text/event-stream', ranges) ?? 0
  return events > (findQuality('application/json', ranges) ?? 0)
}

/** Returns the highest quality of a type; undefined if the header does not name it. */
function findQuality(type: string, ranges: readonly AcceptRange[]): number | undefined {
  const named = ranges.filter((range) => range.type === type)
  return named.length === 0 ? undefined : Math.max(...named.map(({ quality }) => quality))
}

/**
 * Matches the media types of forms, which any page can send without a preflight.
 * @see https://fetch.spec.whatwg.org/#cors-safelisted-request-header
 */
const FORM_TYPES = /^\s*(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)\b/i

/**
 * Refuses a POST whose content type is that of a form, also when it has no body.
 *
 * @throws {TuttiError} UNSUPPORTED_MEDIA_TYPE.
 */
export function assertNoForm({ method, headers }: Pick<Request, 'method' | 'headers'>): void {
  const type = headers.get('content-type')
  if (method === 'POST' && type !== null && FORM_TYPES.test(type)) assertJson(type)
}
