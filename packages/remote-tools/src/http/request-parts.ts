/** From the input of a call to the request that is sent. Pure. */
import { isJsonObject, findUnknownOptions, type OptionNames } from '@tutti/core'
import { findHeaderProblems } from '@tutti/net'

import { encodeText, fillUrl, type UrlTemplate } from './url-template.ts'

/** The parts of a request that come from the input of a call. */
export interface RequestParts {
  /** Values for the places of the URL, by name. */
  readonly path?: Readonly<Record<string, unknown>>
  /**
   * Fields of the query: a list is one field repeated, an object its JSON text, what is null or
   * undefined is left out. Text is a query that is written already.
   */
  readonly query?: Readonly<Record<string, unknown>> | string
  /** Headers of this request; the tool's own win over them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Text and bytes are sent as they are, any other value as JSON. */
  readonly body?: unknown
}

/** A request before the headers of the tool are added. */
export interface PlannedRequest {
  readonly url: string
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** A request, or why the input makes none. */
export type RequestPlan =
  | { readonly ok: true; readonly request: PlannedRequest }
  | { readonly ok: false; readonly problems: readonly string[] }

const PART_NAMES = {
  path: true,
  query: true,
  headers: true,
  body: true,
} as const satisfies OptionNames<RequestParts>

/** Makes the request of its parts; `isStrict` also refuses parts that no request has, and values without a place. */
export function planRequest(
  template: UrlTemplate,
  parts: RequestParts,
  { isStrict = false }: { readonly isStrict?: boolean } = {},
): RequestPlan {
  const unused = isStrict ? findUnusedParts(template, parts) : []
  if (unused.length > 0) return { ok: false, problems: unused }
  const filled = fillUrl(template, parts.path ?? {})
  if (!filled.ok) return filled
  const problems = findHeaderProblems(parts.headers ?? {})
  if (problems.length > 0) return { ok: false, problems }
  const query = typeof parts.query === 'string' ? parts.query : queryText(parts.query ?? {})
  const sent = bodyOf(parts.body)
  const headers = Object.entries(parts.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  )
  return {
    ok: true,
    request: {
      url: withQuery(filled.url, query),
      headers: { ...sent.headers, ...Object.fromEntries(headers) },
      ...(sent.body === undefined ? {} : { body: sent.body }),
    },
  }
}

function findUnusedParts({ places }: UrlTemplate, parts: RequestParts): readonly string[] {
  const known = Object.fromEntries(places.map((name) => [name, true] as const))
  return [
    ...findUnknownOptions(parts, PART_NAMES, 'the request'),
    ...findUnknownOptions(parts.path ?? {}, known, 'the path'),
  ]
}

/** Methods whose input goes into the query. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

/** Fields that the URL has places for go there; the rest is the query, or the body of methods that have one. */
export function partsOfInput(
  input: unknown,
  { places, method }: { readonly places: readonly string[]; readonly method: string },
): RequestParts {
  const path = isJsonObject(input) ? input : {}
  const rest = isJsonObject(input)
    ? Object.fromEntries(Object.entries(input).filter(([name]) => !places.includes(name)))
    : input
  if (WITHOUT_BODY.has(method)) return { path, query: isJsonObject(rest) ? rest : {} }
  return { path, body: rest }
}

/** The request of a text tool: the input is a field of the query of GET, and the body otherwise. */
export function planTextRequest(
  { text: url }: UrlTemplate,
  { method, input }: { readonly method: string; readonly input: string },
): PlannedRequest {
  if (method === 'GET') {
    const query = new URLSearchParams({ input: input.toWellFormed() }).toString()
    return { url: withQuery(url, query), headers: {} }
  }
  const type = isJson(input) ? 'application/json' : 'text/plain; charset=UTF-8'
  return { url, headers: { 'content-type': type }, body: input }
}

function withQuery(url: string, query: string): string {
  if (query === '') return url
  return `${url}${url.includes('?') ? (/[?&]$/.test(url) ? '' : '&') : '?'}${query}`
}

function queryText(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value])
        .filter((item) => item !== undefined && item !== null)
        .map((item) => `${encodeText(name)}=${encodeText(scalarText(item))}`),
    )
    .join('&')
}

/** A value as one field of a query or path: an object is its JSON text. */
export function scalarText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function bodyOf(body: unknown): {
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
} {
  if (body === undefined) return { headers: {} }
  if (typeof body === 'string') {
    return { headers: { 'content-type': 'text/plain; charset=UTF-8' }, body }
  }
  if (body instanceof Uint8Array) {
    return { headers: { 'content-type': 'application/octet-stream' }, body }
  }
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
