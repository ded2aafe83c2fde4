/** Converts responses to results of calls. */
import { ToolResult } from '@tutti/core'
import { parseExactJson } from '@tutti/core/internal'
import { decodeBody, type GuardedResponse } from '@tutti/net/internal'

import { describeBinary, findBinaryType } from './body-kind.ts'

/** Status, headers and JSON body of a response: the structured result of an HTTP tool. */
export interface HttpResponseFacts {
  readonly status: number
  /** Headers by lower-case name, without cookies. */
  readonly headers: Readonly<Record<string, string>>
  /** Value of the body, if it is complete JSON. */
  readonly body?: unknown
}

/** Rules of a tool for its responses. */
export interface AnswerRules {
  readonly maxResponseBytes: number
  /** Strictness of the output check, if the tool declares an output schema. */
  readonly outputCheck?: 'warn' | 'strict' | undefined
}

/** Maximum number of characters of an error body that a message quotes. */
const EXCERPT_LENGTH = 200

/** Lowest status that is a failure. */
const FIRST_FAILURE = 400

/** Converts a response to a result. The schema of the tool reads a result that is only text. */
export function toHttpResult(response: GuardedResponse, rules: AnswerRules): ToolResult | string {
  const contentType = response.headers.get('content-type') ?? ''
  const binaryType = findBinaryType(response.body, contentType)
  const text = binaryType === undefined ? decodeText(response) : describe(response, binaryType)
  const isJson = binaryType === undefined && !response.truncated
  const value = isJson ? parseJson(response, text) : undefined
  const facts = toResponseFacts(response, value)
  if (response.status >= FIRST_FAILURE) {
    return Object.assign(ToolResult.failure(formatStatusFailure(response.status, text)), {
      structured: facts,
    })
  }
  const shown =
    binaryType === undefined
      ? formatText(response, { text, maxResponseBytes: rules.maxResponseBytes })
      : text
  if (rules.outputCheck === undefined) return ToolResult.success(shown, facts)
  if (value !== undefined) return ToolResult.success(shown, value)
  if (rules.outputCheck === 'warn') return shown
  const got = response.truncated
    ? `over ${rules.maxResponseBytes} bytes`
    : (response.headers.get('content-type') ?? 'no content type')
  return ToolResult.failure(`HTTP ${response.status}: expected a JSON response, got ${got}`)
}

function describe({ body, truncated }: GuardedResponse, type: string): string {
  return describeBinary(type, body.byteLength, { truncated })
}

function formatStatusFailure(status: number, text: string): string {
  const excerpt = text
    .trim()
    .slice(0, EXCERPT_LENGTH)
    .replace(/[\uD800-\uDBFF]$/, '')
  return excerpt === '' ? `HTTP ${status}` : `HTTP ${status}: ${excerpt}`
}

function formatText(
  response: GuardedResponse,
  { text, maxResponseBytes }: { readonly text: string; readonly maxResponseBytes: number },
): string {
  if (response.truncated) return `${text}\n[response truncated at ${maxResponseBytes} bytes]`
  if (text !== '' || response.status < 300) return text
  const location = response.headers.get('location')
  return location === null ? text : `HTTP ${response.status}: redirects to ${location}`
}

/** Common types whose text is UTF-8 unless it starts with a byte order mark. */
const UTF8_TYPE =
  /^(application\/json|text\/plain; charset=utf-8|application\/json; charset=utf-8)$/i

/** First bytes of the byte order marks. */
const MARKS: ReadonlySet<number | undefined> = new Set([0xef, 0xfe, 0xff])

function decodeText(response: GuardedResponse): string {
  const { body, truncated } = response
  if (body.byteLength === 0) return ''
  const contentType = response.headers.get('content-type') ?? ''
  if (!truncated && UTF8_TYPE.test(contentType) && !MARKS.has(body[0])) return body.toString()
  return decodeBody({ body, headers: new Headers({ 'content-type': contentType }), truncated })
}

const JSON_TYPE = /^[^;]*\b(application|text)\/([\w.+-]+\+)?json\b/i

function parseJson(response: GuardedResponse, text: string): unknown {
  if (!JSON_TYPE.test(response.headers.get('content-type') ?? '')) return undefined
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}

/** Headers that may contain secrets shared by the tool and its server. */
const WITHHELD: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2', 'authentication-info'])

function toResponseFacts(response: GuardedResponse, body: unknown): HttpResponseFacts {
  const { status } = response
  const headers: Record<string, string> = {}
  for (const [name, value] of response.headers) {
    if (!WITHHELD.has(name)) headers[name] = value
  }
  return body === undefined ? { status, headers } : { status, headers, body }
}
