/** Converts the input of a call to a request. Pure. */
import {
  findOptionProblems,
  formatExactJson,
  isJsonObject,
  type OptionNames,
} from '@tutti/core/internal'
import { findHeaderProblems } from '@tutti/net/internal'

import { encodeText, fillUrl, type UrlTemplate } from './url-template.ts'

/** The parts of a request that come from the input of a call. */
export interface RequestParts {
  /** Values for the placeholders of the URL, by name. */
  readonly path?: Readonly<Record<string, unknown>>
  /**
   * Fields of the query. A list repeats the field, an object is sent as JSON text, and null and undefined are omitted. A
   * string is a complete query.
   */
  readonly query?: Readonly<Record<string, unknown>> | string
  /** Headers of this request; those of the tool replace them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Body: text and bytes are sent unchanged, any other value as JSON. */
  readonly body?: unknown
}

/** A request before the headers of the tool are added. */
export interface PlannedRequest {
  readonly url: string
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** A request, or the problems of the input. */
export type RequestPlan =
  | { readonly ok: true; readonly request: PlannedRequest }
  | { readonly ok: false; readonly problems: readonly string[] }

const PART_NAMES = {
  path: true,
  query: true,
  headers: true,
  body: true,
} as const satisfies OptionNames<RequestParts>

/** Creates a request from its parts. `isStrict` also refuses unknown parts and values without a placeholder. */
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
  const query = typeof parts.query === 'string' ? parts.query : formatQuery(parts.query ?? {})
  const sent = encodeBody(parts.body)
  const headers = Object.entries(parts.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  )
  return {
    ok: true,
    request: {
      url: addQuery(filled.url, query),
      headers: { ...sent.headers, ...Object.fromEntries(headers) },
      ...(sent.body === undefined ? {} : { body: sent.body }),
    },
  }
}

function findUnusedParts({ placeholders }: UrlTemplate, parts: RequestParts): readonly string[] {
  const known = Object.fromEntries(placeholders.map((name) => [name, true] as const))
  return [
    ...findOptionProblems(parts, PART_NAMES, 'the request'),
    ...findOptionProblems(parts.path ?? {}, known, 'the path'),
  ]
}

/** Methods that send their input in the query. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

/** Splits an input: fields with a placeholder fill the path; the others are the query, or the body if the method has one. */
export function splitInput(
  input: unknown,
  { placeholders, method }: { readonly placeholders: readonly string[]; readonly method: string },
): RequestParts {
  const path = isJsonObject(input) ? input : {}
  const rest = isJsonObject(input)
    ? Object.fromEntries(Object.entries(input).filter(([name]) => !placeholders.includes(name)))
    : input
  if (WITHOUT_BODY.has(method)) return { path, query: isJsonObject(rest) ? rest : {} }
  return { path, body: rest }
}

/** Creates the request of a text tool: the input is a query parameter with GET, otherwise the body. */
export function planTextRequest(
  { text: url }: UrlTemplate,
  { method, input }: { readonly method: string; readonly input: string },
): PlannedRequest {
  if (method === 'GET') {
    const query = new URLSearchParams({ input: input.toWellFormed() }).toString()
    return { url: addQuery(url, query), headers: {} }
  }
  const type = isJson(input) ? 'application/json' : 'text/plain; charset=UTF-8'
  return { url, headers: { 'content-type': type }, body: input }
}

function addQuery(url: string, query: string): string {
  if (query === '') return url
  return `${url}${url.includes('?') ? (/[?&]$/.test(url) ? '' : '&') : '?'}${query}`
}

function formatQuery(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value])
        .filter((item) => item !== undefined && item !== null)
        .map((item) => `${encodeText(name)}=${encodeText(scalarText(item))}`),
    )
    .join('&')
}

/** Formats a value as one field of a query or path; an object becomes JSON text. */
export function scalarText(value: unknown): string {
  return typeof value === 'string' ? value : (formatExactJson(value) ?? '')
}

function encodeBody(body: unknown): {
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
  return { headers: { 'content-type': 'application/json' }, body: formatExactJson(body) ?? '' }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
