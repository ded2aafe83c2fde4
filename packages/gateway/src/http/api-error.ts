/** Pure: maps thrown errors to error bodies and statuses. */
import { TuttiError } from '@tutti/core'
import { ERROR_CODES, isErrorCode, type ErrorBody, type ErrorCode } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

import { formatProblems } from './error-limits.ts'

/** An error with its status and its body on the wire. */
export interface WireError {
  readonly status: number
  readonly body: ErrorBody
  /**
   * `WWW-Authenticate` of the response; absent when other credentials would not help.
   *
   * @see https://www.rfc-editor.org/rfc/rfc6750#section-3
   */
  readonly challenge?: string
}

/** Default of `retryAfterMs`: the usual time until a store or a server is available again. */
const RETRY_MS: Partial<Record<ErrorCode, number>> = {
  STORE_UNAVAILABLE: 5_000,
  OVERLOADED: 1_000,
  QUERY_TOO_SLOW: 5_000,
  DRAINING: 5_000,
}

/** Returns the error of an invalid request; `what` names the invalid part, such as "request body". */
export function badRequest(what: string, problems: readonly Problem[]): TuttiError {
  return new TuttiError('BAD_REQUEST', `Invalid ${what}: ${formatProblems(problems)}`, {
    details: { problems },
  })
}

/** Maximum number of missing inputs that an error names. */
const MAX_MISSING = 100

/** Returns the wire form of `error`; undefined for an internal error, whose text is not sent to callers. */
export function toWireError(error: unknown): WireError | undefined {
  if (!TuttiError.isInstance(error)) return undefined
  if (error.code === 'INPUT_MISSING') return toMissingInputs(error)
  if (error.code === 'INPUT_TOO_LARGE') return toInputTooLarge(error)
  if (error.code === 'CONFIG_INVALID') return wireError('BAD_REQUEST', error)
  return isErrorCode(error.code) ? wireError(error.code, error) : undefined
}

/** Returns the challenge of an error about credentials: `scope` is the missing one, `hasKey` whether there was a key. */
function toChallenge(code: ErrorCode, details: TuttiError['details']): string | undefined {
  const { scope, hasKey = true } = details ?? {}
  if (code === 'FORBIDDEN' && typeof scope === 'string') {
    return `Bearer error="insufficient_scope", scope="${scope}"`
  }
  if (code !== 'UNAUTHORIZED') return undefined
  return hasKey === true ? 'Bearer error="invalid_token"' : 'Bearer'
}

function wireError(code: ErrorCode, error: TuttiError): WireError {
  const problems = problemsOf(error)
  const retryAfterMs = error.details?.['retryAfterMs'] ?? RETRY_MS[code]
  const challenge = toChallenge(code, error.details)
  return {
    ...(challenge === undefined ? {} : { challenge }),
    status: ERROR_CODES[code].status,
    body: {
      error: code,
      message: error.message,
      ...(problems.length === 0 ? {} : { problems: [...problems] }),
      ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    },
  }
}

function problemsOf({ details }: TuttiError): readonly Problem[] {
  const problems = details?.['problems']
  // NOTE: `details` is open; only problems are put there under this name.
  return Array.isArray(problems) ? (problems as Problem[]) : []
}

function toMissingInputs(error: TuttiError): WireError {
  const missing = error.details?.['missing']
  const names = Array.isArray(missing) ? missing.slice(0, MAX_MISSING).map(String) : []
  const problems = [
    ...problemsOf(error),
    ...names.map((name) => ({
      path: `/inputs/${name}`,
      message: 'is required: a task uses this template variable',
      expected: 'string',
    })),
  ]
  return {
    status: ERROR_CODES.BAD_REQUEST.status,
    body: { error: 'BAD_REQUEST', message: error.message, problems },
  }
}

function toInputTooLarge({ message }: TuttiError): WireError {
  const { status } = ERROR_CODES.BAD_REQUEST
  return {
    status,
    body: { error: 'BAD_REQUEST', message, problems: [{ path: '/inputs', message }] },
  }
}
