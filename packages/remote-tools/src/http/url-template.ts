/**
 * URLs with placeholders for values of the model. Pure.
 *
 *   https://api.example.com/users/{id}?view={view}
 *   └──────── origin ─────┘└─ path ──┘└─ query ──┘
 *
 * REMOTE-U1 A value cannot leave its placeholder: it is percent-encoded, and a value that would still change the path
 *    (an empty segment, `.` or `..`) is refused.
 * REMOTE-U2 A value in the host is a host name or a part of one. `{url}` alone stands for a whole URL.
 */

/** A URL with placeholders. */
export interface UrlTemplate {
  /** The template as written. */
  readonly text: string
  /** The origin; undefined if it has placeholders. */
  readonly fixedOrigin: string | undefined
  /** Names of the placeholders, in order. */
  readonly placeholders: readonly string[]
  /** The template for display, without its query, which may contain a key. */
  readonly shown: string
}

/** A template, or the reason why it is invalid. */
export type UrlTemplateReading =
  | { readonly ok: true; readonly template: UrlTemplate }
  | { readonly ok: false; readonly problem: string }

const PLACEHOLDER = /\{([^{}]+)\}/g

/** Parses the URL of a tool. */
export function parseUrlTemplate(
  given: string,
  { allowPlaceholders }: { readonly allowPlaceholders: boolean },
): UrlTemplateReading {
  // Placeholders that the URL class has encoded are restored.
  const [text = ''] = given.replaceAll(/%7B([\w.-]+)%7D/gi, '{$1}').split('#', 1)
  const named = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  if (!allowPlaceholders && named.length > 0)
    return { ok: false, problem: describePlaceholders(named) }
  const placeholders = named
  const [beforeQuery = ''] = text.split('?', 1)
  if (allowPlaceholders && /^\{[^{}]+\}$/.test(text)) {
    return { ok: true, template: { text, fixedOrigin: undefined, placeholders, shown: text } }
  }
  const url = URL.parse(allowPlaceholders ? text.replaceAll(PLACEHOLDER, 'x') : text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    return {
      ok: false,
      problem: `url must be an http or https URL, got "${removeLogin(beforeQuery)}"`,
    }
  }
  if (url.username !== '' || url.password !== '') {
    return { ok: false, problem: 'url must not contain a user name or password: set a header' }
  }
  const origin = /^[^:]+:\/\/[^/?]*/.exec(text)?.[0] ?? ''
  const hasPlaceholder = allowPlaceholders && /[{}]/.test(origin)
  if (hasPlaceholder && !/^https?:\/\/[^:]*(:\d+)?$/i.test(origin)) {
    return {
      ok: false,
      problem: `url may have placeholders in its host, but not in its scheme or port`,
    }
  }
  const fixedOrigin = hasPlaceholder ? undefined : url.origin
  return { ok: true, template: { text, fixedOrigin, placeholders, shown: beforeQuery } }
}

function describePlaceholders(names: readonly string[]): string {
  const list = names.map((name) => `{${name}}`).join(', ')
  return `url has placeholders (${list}), but the tool has no input schema`
}

function removeLogin(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//')
}

/** A URL, or the problems of the values. */
export type FilledUrl =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Replaces the placeholders of a template with values. */
export function fillUrl(
  { text, placeholders }: UrlTemplate,
  values: Readonly<Record<string, unknown>>,
): FilledUrl {
  if (placeholders.length === 0) return { ok: true, url: text }
  const missing = placeholders.filter((name) => toText(values[name]) === undefined)
  if (missing.length > 0) {
    return { ok: false, problems: missing.map((name) => `${name} must be text or a number`) }
  }
  const valueOf = (name: string): string => toText(values[name]) ?? ''
  const [only] = placeholders
  if (only !== undefined && text === `{${only}}`) return toWholeUrl(only, valueOf(only))
  const [, origin = '', path = '', query = ''] = /^([^:]+:\/\/[^/?]*)([^?]*)(.*)$/s.exec(text) ?? []
  const problems = [...findHostProblems(origin, valueOf), ...findPathProblems(path, valueOf)]
  if (problems.length > 0) return { ok: false, problems }
  const host = origin.replaceAll(PLACEHOLDER, (_, name: string) => valueOf(name))
  return { ok: true, url: `${host}${fillEncoded(path, valueOf)}${fillEncoded(query, valueOf)}` }
}

function toWholeUrl(name: string, value: string): FilledUrl {
  const url = URL.parse(value)
  if (url !== null && /^https?:$/.test(url.protocol)) return { ok: true, url: url.href }
  return {
    ok: false,
    problems: [`${name} must be an http or https URL, got ${JSON.stringify(value.slice(0, 100))}`],
  }
}

type ValueOf = (name: string) => string

/** Returns the values that are not a part of a host name; slashes, ports and user names are refused. */
function findHostProblems(origin: string, valueOf: ValueOf): readonly string[] {
  return [...origin.matchAll(PLACEHOLDER)].flatMap(([, name = '']) => {
    const value = valueOf(name)
    if (/^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(value)) return []
    return [`${name} must be a part of a host name, got ${JSON.stringify(value)}`]
  })
}

function findPathProblems(path: string, valueOf: ValueOf): readonly string[] {
  return path.split('/').flatMap((segment) => {
    const names = [...segment.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
    if (names.length === 0) return []
    const filled = segment.replaceAll(PLACEHOLDER, (_, name: string) => valueOf(name))
    if (filled !== '' && filled !== '.' && filled !== '..') return []
    return [`${names.join(' and ')} must not make the path segment "${filled}"`]
  })
}

function fillEncoded(text: string, valueOf: ValueOf): string {
  return text.replaceAll(PLACEHOLDER, (_, name: string) => encodeText(valueOf(name)))
}

/** Percent-encodes text for a path or query; a lone surrogate becomes U+FFFD. */
export function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value)
  return Array.isArray(value) ? value.map(String).join(',') : undefined
}
