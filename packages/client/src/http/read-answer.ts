/** Pure: decodes responses to values or errors. */
import { decode, ErrorBody } from '@tutti/protocol'
import type { Decoded, Problem } from '@tutti/protocol/internal'

import { TuttiClientError } from '../errors.ts'

import type { RouteRequest } from './send.ts'

/** Maximum number of problems in an error message; the error has all of them. */
const SHOWN_PROBLEMS = 5

/** Maximum number of characters of a response that an error message quotes. */
const SHOWN_TEXT = 200

/** A response with its body. */
export interface HttpAnswer {
  readonly request: RouteRequest
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Time of arrival, in milliseconds since 1970. */
  readonly receivedAt: number
}

/**
 * Decodes the value of a successful response.
 *
 * @throws {TuttiClientError} BAD_RESPONSE when the text is not JSON or does not match.
 */
export function decodeAnswer<T>(
  { request, status, text }: HttpAnswer,
  decodeValue: (value: unknown) => Decoded<T>,
): T {
  const what = `the response to ${request.method} ${request.path}`
  const decoded = decodeValue(parseJson(what, { text, status }))
  if (decoded.ok) return decoded.value
  throw badResponseError(what, { problems: decoded.problems, status })
}

/** Parses the JSON text of `what`. @throws {TuttiClientError} BAD_RESPONSE when it is not JSON. */
export function parseJson(
  what: string,
  { text, status }: { readonly text: string; readonly status?: number },
): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = `Cannot read ${what}: must be JSON, got ${quote(text)}`
    throw new TuttiClientError('BAD_RESPONSE', message, { status, cause: error })
  }
}

/** Returns the error for `what`, whose value does not match its schema. */
export function badResponseError(
  what: string,
  { problems, status }: { readonly problems: readonly Problem[]; readonly status?: number },
): TuttiClientError {
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ path, message }) => `${path} ${message}`)
  const rest = problems.length - shown.length
  const list = shown.map((problem) => problem.trim()).join('; ')
  return new TuttiClientError(
    'BAD_RESPONSE',
    `Cannot read ${what}: ${list}${rest > 0 ? `; and ${rest} more` : ''}`,
    { problems, status },
  )
}

/**
 * Returns the error of an unsuccessful response. A response without an error body of this API, such as that of a proxy,
 * is BAD_RESPONSE, and its status determines whether it is retryable.
 */
export function answerError(answer: HttpAnswer): TuttiClientError {
  const { request, status, headers, text, receivedAt } = answer
  const what = `${request.method} ${request.path} returned ${status}`
  const asked = parseRetryAfter(headers.get('retry-after'), receivedAt)
  const body = parseErrorBody(text)
  if (body === undefined) {
    return new TuttiClientError('BAD_RESPONSE', `${what}: ${quote(text)}`, {
      status,
      retryAfterMs: asked,
      retryable: status === 429 || status >= 500,
    })
  }
  return new TuttiClientError(body.error, `${what} ${body.error}: ${body.message}`, {
    status,
    problems: body.problems,
    retryAfterMs: body.retryAfterMs ?? asked,
    requestId: body.requestId,
  })
}

/**
 * Parses a `Retry-After` header, seconds or a date, to milliseconds from `now`; undefined when it is absent or invalid.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const text = header.trim()
  if (/^\d+$/.test(text)) return Number(text) * 1000
  // `Date.parse` reads bare numbers as years, so a date must begin with the name of a day.
  const at = /^[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

function parseErrorBody(text: string): ErrorBody | undefined {
  try {
    const decoded = decode(ErrorBody, JSON.parse(text))
    return decoded.ok ? decoded.value : undefined
  } catch {
    return undefined
  }
}

function quote(text: string): string {
  if (text === '') return 'an empty text'
  return JSON.stringify(text.length > SHOWN_TEXT ? `${text.slice(0, SHOWN_TEXT)}…` : text)
}
