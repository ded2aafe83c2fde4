/**
 * Pure: errors in the shape of OpenAI's API.
 *
 * GW-O4 Every error of a path below `/v1` has OpenAI's shape, those of keys, limits, bodies and unknown routes included.
 * GW-O5 `param` names the field of the first problem, and `message` every problem.
 * GW-O6 `x-should-retry` is `false` when a retry cannot help, because OpenAI's clients repeat 409, 429 and 5xx.
 *
 * @see https://platform.openai.com/docs/guides/error-codes
 */
import { ERROR_CODES, type ErrorCode } from '@tutti/protocol'

import { errorHeaders } from '../http/on-error.ts'

import type { WireError } from '../http/api-error.ts'

/** Error of OpenAI's API. */
export interface OpenAiError {
  readonly message: string
  readonly type: string
  /** Field of the request, such as `messages[0].content`; null when the error concerns no field. */
  readonly param: string | null
  readonly code: string
}

/** Body of an answer with an error, and of an error in a stream. */
export interface OpenAiErrorBody {
  readonly error: OpenAiError
}

/** Codes that OpenAI's API has for errors of this server. Other codes are sent in lower case. */
const CODES: Partial<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'invalid_value',
  INVALID_MODEL: 'model_not_found',
  UNAUTHORIZED: 'invalid_api_key',
  RATE_LIMITED: 'rate_limit_exceeded',
  CONCURRENCY_LIMIT: 'rate_limit_exceeded',
  SPEND_LIMIT: 'insufficient_quota',
  THREAD_BUSY: 'conversation_locked',
}

/** Statuses that differ from those of the control API. */
const STATUSES: Partial<Record<ErrorCode, number>> = { INVALID_MODEL: 404 }

/** Fields that the messages of these codes concern, when no problem names one. */
const PARAMS: Partial<Record<ErrorCode, string>> = {
  INVALID_MODEL: 'model',
  THREAD_NOT_FOUND: 'conversation',
  THREAD_BUSY: 'conversation',
}

/** Returns an error as the body of OpenAI's API. */
export function toOpenAiError({ status, body }: WireError): OpenAiErrorBody {
  const { error: code, message, problems: [first] = [] } = body
  return {
    error: {
      message,
      type: toType(status),
      param: first === undefined ? (PARAMS[code] ?? null) : toParam(first.path),
      code: CODES[code] ?? code.toLowerCase(),
    },
  }
}

/** Whether a path belongs to OpenAI's API, whether or not it has a route. */
export function isOpenAiPath(path: string): boolean {
  return path.startsWith('/v1/')
}

/** Returns an error as an answer of OpenAI's API. */
export function toOpenAiResponse(
  wire: WireError,
  more: Readonly<Record<string, string>> = {},
): Response {
  const { error: code } = wire.body
  const headers = new Headers({ ...errorHeaders(wire), ...more })
  if (!ERROR_CODES[code].retryable) headers.set('x-should-retry', 'false')
  return Response.json(toOpenAiError(wire), { status: STATUSES[code] ?? wire.status, headers })
}

function toType(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}

/** Converts a JSON Pointer such as `/messages/0/content` to `messages[0].content`; null for the whole body. */
export function toParam(pointer: string): string | null {
  if (pointer === '') return null
  const names = pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const [first = '', ...rest] = names
  return rest.reduce(
    (path, name) => (/^\d+$/.test(name) ? `${path}[${name}]` : `${path}.${name}`),
    first,
  )
}
