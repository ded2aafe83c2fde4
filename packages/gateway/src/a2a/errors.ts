/** Errors of A2A, and the mapping of other errors to JSON-RPC and REST. */
import { TuttiError } from '@tutti/core'

import { limitMessage, limitProblems, formatProblems } from '../http/error-limits.ts'
import { errorHeaders, reportError, type ErrorReporting } from '../http/on-error.ts'

import type { WireError } from '../http/api-error.ts'
import type { ErrorCode } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

/** Codes of an error on each wire. */
export interface A2aErrorInfo {
  readonly rpcCode: number
  readonly httpStatus: number
  /** Name of the gRPC status, which REST responses contain too. */
  readonly status: string
}

/**
 * Reason of an error → its codes. The first group is A2A's, the second JSON-RPC's.
 *
 * @see https://a2a-protocol.org/latest/specification/ section 5.4
 */
export const A2A_ERRORS = {
  TASK_NOT_FOUND: { rpcCode: -32001, httpStatus: 404, status: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { rpcCode: -32002, httpStatus: 400, status: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    rpcCode: -32003,
    httpStatus: 400,
    status: 'FAILED_PRECONDITION',
  },
  UNSUPPORTED_OPERATION: { rpcCode: -32004, httpStatus: 400, status: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { rpcCode: -32005, httpStatus: 400, status: 'INVALID_ARGUMENT' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    rpcCode: -32007,
    httpStatus: 400,
    status: 'FAILED_PRECONDITION',
  },
  VERSION_NOT_SUPPORTED: { rpcCode: -32009, httpStatus: 400, status: 'FAILED_PRECONDITION' },

  PARSE_ERROR: { rpcCode: -32700, httpStatus: 400, status: 'INVALID_ARGUMENT' },
  INVALID_REQUEST: { rpcCode: -32600, httpStatus: 400, status: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { rpcCode: -32601, httpStatus: 404, status: 'NOT_FOUND' },
  INVALID_PARAMS: { rpcCode: -32602, httpStatus: 400, status: 'INVALID_ARGUMENT' },
} as const satisfies Readonly<Record<string, A2aErrorInfo>>

/** Reason of an error in `ErrorInfo`. */
export type A2aReason = keyof typeof A2A_ERRORS

/** An error with a reason of A2A. */
export class A2aError extends TuttiError {
  override readonly name = 'A2aError'
  readonly reason: A2aReason
  /** Problems of invalid parameters. */
  readonly problems: readonly Problem[]

  constructor(reason: A2aReason, message: string, problems: readonly Problem[] = []) {
    super('BAD_REQUEST', message)
    this.reason = reason
    this.problems = problems
  }
}

/** Returns the error for invalid parameters, with every problem. */
export function invalidParams(problems: readonly Problem[]): A2aError {
  const text = `Invalid parameters: ${formatProblems(problems)}`
  return new A2aError('INVALID_PARAMS', text, problems)
}

/** An error in the form of both wires. */
export interface ErrorAnswer extends A2aErrorInfo {
  readonly message: string
  /** Objects in the JSON form of `google.protobuf.Any`. */
  readonly details: readonly Readonly<Record<string, unknown>>[]
  readonly headers: Readonly<Record<string, string>>
}

/** Domain of the reasons of A2A. */
const A2A_DOMAIN = 'a2a-protocol.org'

/** Domain of the control API's error codes. */
const TUTTI_DOMAIN = 'tutti.dev'

/** Error code of the control API → reason of A2A. */
const REASONS: Partial<Record<ErrorCode, A2aReason>> = {
  RUN_NOT_FOUND: 'TASK_NOT_FOUND',
  RUN_COMPLETED: 'UNSUPPORTED_OPERATION',
  RUN_NOT_RUNNING: 'UNSUPPORTED_OPERATION',
  REVIEW_RESOLVED: 'UNSUPPORTED_OPERATION',
  REVIEW_NOT_FOUND: 'UNSUPPORTED_OPERATION',
  UNSUPPORTED_MEDIA_TYPE: 'CONTENT_TYPE_NOT_SUPPORTED',
}

/** Codes that are answered as on every other route, because credentials of A2A are those of HTTP. */
const CREDENTIAL_CODES: readonly TuttiError['code'][] = ['UNAUTHORIZED', 'FORBIDDEN']

/**
 * Returns the answer to an error. Internal errors are logged with the id in their message.
 *
 * @throws the error itself, when it concerns the credentials of the caller.
 */
export function errorAnswer(error: unknown, options: ErrorReporting): ErrorAnswer {
  if (error instanceof A2aError) {
    const { reason, message, problems } = error
    const { redactor } = options
    const texts = redactor.value({ message, problems })
    return toErrorAnswer(reason, limitMessage(texts.message), limitProblems(texts.problems))
  }
  if (TuttiError.isInstance(error) && CREDENTIAL_CODES.includes(error.code)) throw error
  return translateWireError(reportError(error, options))
}

function toErrorAnswer(
  reason: A2aReason,
  message: string,
  problems: readonly Problem[] = [],
): ErrorAnswer {
  const info = toErrorInfo(reason, A2A_DOMAIN)
  const details = problems.length === 0 ? [info] : [info, toBadRequestDetail(problems)]
  return { ...A2A_ERRORS[reason], message, details, headers: {} }
}

function translateWireError(wire: WireError): ErrorAnswer {
  const { error: code, message, problems } = wire.body
  const reason = REASONS[code] ?? (wire.status < 429 ? 'INVALID_PARAMS' : undefined)
  if (reason !== undefined) return toErrorAnswer(reason, message, problems)
  const isFault = wire.status === 500
  return {
    // -32000 is in the range for server errors: the server cannot accept the request now.
    rpcCode: isFault ? -32603 : -32000,
    httpStatus: wire.status,
    status: isFault ? 'INTERNAL' : wire.status === 429 ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE',
    message,
    details: [toErrorInfo(code, TUTTI_DOMAIN)],
    headers: errorHeaders(wire),
  }
}

function toErrorInfo(reason: string, domain: string): Readonly<Record<string, unknown>> {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain }
}

function toBadRequestDetail(problems: readonly Problem[]): Readonly<Record<string, unknown>> {
  const fieldViolations = problems.map(({ path, message }) => ({
    field: path.slice(1).replaceAll('/', '.'),
    description: message,
  }))
  return { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }
}
