/** Checks of the headers that a tool may set. Pure. */

/** Headers that are derived from the URL, the body and the connection. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A token. @see https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2 */
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/

/** Tabs and printable characters up to U+00FF. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Returns the problems of headers. The texts do not quote values, which may be secret. */
export function findHeaderProblems(headers: Readonly<Record<string, unknown>>): readonly string[] {
  // A list would be read by its indexes, and a Map or Headers would be empty.
  if (!isRecord(headers)) {
    const got = Array.isArray(headers) ? 'a list' : nameType(headers)
    return [`headers must be a record of names and values, got ${got}; a header cannot be repeated`]
  }
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!NAME.test(name)) return [`${JSON.stringify(name)} is not a valid header name`]
    if (CONNECTION_HEADERS.has(name.toLowerCase())) {
      return [`the header "${name}" cannot be set: it is derived from the URL and the body`]
    }
    if (typeof value === 'string' && VALUE.test(value)) return []
    return [
      `the value of the header "${name}" must be text without line breaks or control characters`,
    ]
  })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // A record of another realm has another `Object.prototype`.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function nameType(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return value.constructor.name
}
