/**
 * The URL of a tool, with places for what the model says. Pure.
 *
 *   https://api.example.com/users/{id}?view={view}
 *   └──────── origin ─────┘└─ path ──┘└─ query ──┘
 *
 * U1 A value stays in its place: it is percent-encoded, and one that would still change the path (empty,
 *    `.` or `..` as a whole segment) is refused.
 * U2 A value in the host is a name of a host or a part of one; `{url}` alone is a whole URL.
 */

/** A URL with places. */
export interface UrlTemplate {
  /** As it was written. */
  readonly text: string
  /** The origin, when none of it has places. */
  readonly fixedOrigin: string | undefined
  /** Names of the places, in order. */
  readonly places: readonly string[]
  /** The template without its query, for people: a query may hold a key. */
  readonly shown: string
}

/** A template, or why it is none. */
export type UrlTemplateReading =
  | { readonly ok: true; readonly template: UrlTemplate }
  | { readonly ok: false; readonly problem: string }

const PLACE = /\{([^{}]+)\}/g

/** Reads the URL of a tool. */
export function readUrlTemplate(
  given: string,
  { allowPlaces }: { readonly allowPlaces: boolean },
): UrlTemplateReading {
  // What the URL class has encoded is a place again.
  const [text = ''] = given.replaceAll(/%7B([\w.-]+)%7D/gi, '{$1}').split('#', 1)
  const named = [...text.matchAll(PLACE)].map(([, name = '']) => name)
  if (!allowPlaces && named.length > 0) return { ok: false, problem: placesProblem(named) }
  const places = named
  const [beforeQuery = ''] = text.split('?', 1)
  if (allowPlaces && /^\{[^{}]+\}$/.test(text)) {
    return { ok: true, template: { text, fixedOrigin: undefined, places, shown: text } }
  }
  const url = URL.parse(allowPlaces ? text.replaceAll(PLACE, 'x') : text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    return {
      ok: false,
      problem: `url must be an http or https URL, got "${withoutUser(beforeQuery)}"`,
    }
  }
  if (url.username !== '' || url.password !== '') {
    return { ok: false, problem: 'url must have no user name or password: set a header' }
  }
  const origin = /^[^:]+:\/\/[^/?]*/.exec(text)?.[0] ?? ''
  const hasPlace = allowPlaces && /[{}]/.test(origin)
  if (hasPlace && !/^https?:\/\/[^:]*(:\d+)?$/i.test(origin)) {
    return { ok: false, problem: `url may have places in its host, not in its scheme or port` }
  }
  const fixedOrigin = hasPlace ? undefined : url.origin
  return { ok: true, template: { text, fixedOrigin, places, shown: beforeQuery } }
}

function placesProblem(names: readonly string[]): string {
  const list = names.map((name) => `{${name}}`).join(', ')
  return `url has places for fields (${list}), and the tool has no input schema`
}

function withoutUser(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//')
}

/** A URL, or every value that does not fit its place. */
export type FilledUrl =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Puts values into the places of a template. */
export function fillUrl(
  { text, places }: UrlTemplate,
  values: Readonly<Record<string, unknown>>,
): FilledUrl {
  if (places.length === 0) return { ok: true, url: text }
  const missing = places.filter((name) => textOf(values[name]) === undefined)
  if (missing.length > 0) {
    return { ok: false, problems: missing.map((name) => `${name} must be text or a number`) }
  }
  const valueOf = (name: string): string => textOf(values[name]) ?? ''
  const [only] = places
  if (only !== undefined && text === `{${only}}`) return wholeUrl(only, valueOf(only))
  const [, origin = '', path = '', query = ''] = /^([^:]+:\/\/[^/?]*)([^?]*)(.*)$/s.exec(text) ?? []
  const problems = [...hostProblems(origin, valueOf), ...pathProblems(path, valueOf)]
  if (problems.length > 0) return { ok: false, problems }
  const host = origin.replaceAll(PLACE, (_, name: string) => valueOf(name))
  return { ok: true, url: `${host}${encodedIn(path, valueOf)}${encodedIn(query, valueOf)}` }
}

function wholeUrl(name: string, value: string): FilledUrl {
  const url = URL.parse(value)
  if (url !== null && /^https?:$/.test(url.protocol)) return { ok: true, url: url.href }
  return {
    ok: false,
    problems: [`${name} must be an http or https URL, got ${JSON.stringify(value.slice(0, 100))}`],
  }
}

type ValueOf = (name: string) => string

/** Values with slashes in them fill a host no more than values with a port or user name do. */
function hostProblems(origin: string, valueOf: ValueOf): readonly string[] {
  return [...origin.matchAll(PLACE)].flatMap(([, name = '']) => {
    const value = valueOf(name)
    if (/^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(value)) return []
    return [`${name} must be a part of a host name, got ${JSON.stringify(value)}`]
  })
}

function pathProblems(path: string, valueOf: ValueOf): readonly string[] {
  return path.split('/').flatMap((segment) => {
    const names = [...segment.matchAll(PLACE)].map(([, name = '']) => name)
    if (names.length === 0) return []
    const filled = segment.replaceAll(PLACE, (_, name: string) => valueOf(name))
    if (filled !== '' && filled !== '.' && filled !== '..') return []
    return [`${names.join(' and ')} must not make the path segment "${filled}"`]
  })
}

function encodedIn(text: string, valueOf: ValueOf): string {
  return text.replaceAll(PLACE, (_, name: string) => encodeText(valueOf(name)))
}

/** Percent-encodes text for a path or query; half a character counts as U+FFFD. */
export function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? value.map(String).join(',') : undefined
}
