/** Pure: the errors of A2A, and what each is on JSON-RPC and on REST. */
import { problemsText } from '../http/error-limits.ts'

import type { Problem } from '@tutti/protocol'

/** What stands for an error on each wire. */
export interface A2aErrorInfo {
  readonly rpcCode: number
  readonly httpStatus: number
  /** Name of the status of gRPC, which REST answers carry too. */
  readonly status: string
}

/**
 * Reason of an error → what stands for it. The first group is A2A's, the second JSON-RPC's.
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

/** Reason of an error, as `ErrorInfo` carries it. */
export type A2aReason = keyof typeof A2A_ERRORS

/** A request that A2A has an error for. */
export class A2aError extends Error {
  override readonly name = 'A2aError'
  readonly reason: A2aReason
  /** What does not fit, when that is why. */
  readonly problems: readonly Problem[]

  constructor(reason: A2aReason, message: string, problems: readonly Problem[] = []) {
    super(message)
    this.reason = reason
    this.problems = problems
  }
}

/** The error of parameters that do not fit, with every problem. */
export function invalidParams(problems: readonly Problem[]): A2aError {
  const text = `The parameters do not fit: ${problemsText(problems)}`
  return new A2aError('INVALID_PARAMS', text, problems)
}
