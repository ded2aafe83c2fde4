/** From anything that was thrown to the error that a caller over A2A gets. */
import { TuttiError } from '@tutti/core'

import { limitedMessage, limitedProblems } from '../http/error-limits.ts'
import { errorHeaders, wireErrorOf } from '../http/on-error.ts'
import { A2A_ERRORS, A2aError, type A2aErrorInfo, type A2aReason } from './a2a-error.ts'

import type { WireError } from '../http/api-error.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { ErrorCode, Problem } from '@tutti/protocol'

/** An error on both wires. */
export interface ErrorAnswer extends A2aErrorInfo {
  readonly message: string
  /** Objects in the JSON form of `google.protobuf.Any`. */
  readonly details: readonly Readonly<Record<string, unknown>>[]
  readonly headers: Readonly<Record<string, string>>
}

/** Domain of the reasons that are A2A's. */
const A2A_DOMAIN = 'a2a-protocol.org'

/** Domain of the reasons that are codes of the control API. */
const OUR_DOMAIN = 'tutti.dev'

/** Codes of the control API that A2A has an error of its own for. */
const REASONS: Partial<Record<ErrorCode, A2aReason>> = {
  RUN_NOT_FOUND: 'TASK_NOT_FOUND',
  RUN_COMPLETED: 'UNSUPPORTED_OPERATION',
  RUN_NOT_RUNNING: 'UNSUPPORTED_OPERATION',
  REVIEW_RESOLVED: 'UNSUPPORTED_OPERATION',
  REVIEW_NOT_FOUND: 'UNSUPPORTED_OPERATION',
  UNSUPPORTED_MEDIA_TYPE: 'CONTENT_TYPE_NOT_SUPPORTED',
}

/** Codes that are told as every other route tells them: HTTP is where A2A has credentials. */
const OF_HTTP: readonly TuttiError['code'][] = ['UNAUTHORIZED', 'FORBIDDEN']

/**
 * The answer to what was thrown; a fault of ours is logged under the id in its message.
 *
 * @throws what was thrown, when it is about who may call.
 */
export function errorAnswer(
  error: unknown,
  options: Pick<GatewayOptions, 'logger' | 'redactor' | 'metrics'>,
): ErrorAnswer {
  if (error instanceof A2aError) {
    const { reason, message, problems } = error
    const { redactor } = options
    const texts = redactor.value({ message, problems })
    return answerOf(reason, limitedMessage(texts.message), limitedProblems(texts.problems))
  }
  if (TuttiError.isInstance(error) && OF_HTTP.includes(error.code)) throw error
  return answerOfWire(wireErrorOf(error, options))
}

function answerOf(
  reason: A2aReason,
  message: string,
  problems: readonly Problem[] = [],
): ErrorAnswer {
  const info = errorInfo(reason, A2A_DOMAIN)
  const details = problems.length === 0 ? [info] : [info, badRequestOf(problems)]
  return { ...A2A_ERRORS[reason], message, details, headers: {} }
}

function answerOfWire(wire: WireError): ErrorAnswer {
  const { error: code, message, problems } = wire.body
  const reason = REASONS[code] ?? (wire.status < 429 ? 'INVALID_PARAMS' : undefined)
  if (reason !== undefined) return answerOf(reason, message, problems)
  const isFault = wire.status === 500
  return {
    // -32000 is for the server to define: it cannot take the request at this moment.
    rpcCode: isFault ? -32603 : -32000,
    httpStatus: wire.status,
    status: isFault ? 'INTERNAL' : wire.status === 429 ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE',
    message,
    details: [errorInfo(code, OUR_DOMAIN)],
    headers: errorHeaders(wire),
  }
}

function errorInfo(reason: string, domain: string): Readonly<Record<string, unknown>> {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain }
}

function badRequestOf(problems: readonly Problem[]): Readonly<Record<string, unknown>> {
  const fieldViolations = problems.map(({ path, message }) => ({
    field: path.slice(1).replaceAll('/', '.'),
    description: message,
  }))
  return { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }
}
