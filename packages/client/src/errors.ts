/** Errors of this package. */
import { ERROR_CODES, isErrorCode, type ErrorCode } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

import type { RunEnd } from './ended-run.ts'

const BRAND = Symbol.for('tutti.client-error')
const UNFINISHED_BRAND = Symbol.for('tutti.unfinished-run-error')

/** Code of a failure that the server did not report → whether a retry may succeed, and its meaning. */
export const LOCAL_ERROR_CODES = {
  CONNECTION_FAILED: {
    retryable: true,
    meaning: 'The server could not be reached, or the connection was lost',
  },
  TIMED_OUT: { retryable: true, meaning: 'The call exceeded its time limit' },
  BAD_RESPONSE: { retryable: false, meaning: 'The response is not valid for this API' },
  ABORTED: {
    retryable: false,
    meaning: 'The caller aborted the call, or closed the connection',
  },
  SLOW_READER: {
    retryable: true,
    meaning:
      'Too many WebSocket events were waiting for their reader; subscribe again after the last one',
  },
  RUN_FAILED: { retryable: false, meaning: 'The awaited run failed' },
  RUN_CANCELLED: { retryable: false, meaning: 'The awaited run was cancelled' },
} as const

/** Code of {@link LOCAL_ERROR_CODES}. */
export type LocalErrorCode = keyof typeof LOCAL_ERROR_CODES

/** Code of a failure: that of the server's error body, or a local one. */
export type ClientErrorCode = ErrorCode | LocalErrorCode

/** Fields of a {@link TuttiClientError} other than its code and message. */
export interface TuttiClientErrorOptions {
  /** HTTP status, if the server responded. */
  readonly status?: number | undefined
  readonly problems?: readonly Problem[] | undefined
  readonly retryAfterMs?: number | undefined
  readonly requestId?: string | undefined
  /** @default whether the error code is retryable */
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** A failed call. */
export class TuttiClientError extends Error {
  override readonly name: string = 'TuttiClientError'
  readonly code: ClientErrorCode
  /** HTTP status of the response; undefined when there was none. */
  readonly status: number | undefined
  /** Every problem of the request (`BAD_REQUEST`) or of the response (`BAD_RESPONSE`), with its path. */
  readonly problems: readonly Problem[] | undefined
  /** Delay that the server asks for before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** Id under which the server logged the error. */
  readonly requestId: string | undefined
  /**
   * Whether the same call may succeed later. A repeated submit starts a second run, unless it has an `idempotencyKey`
   * or its body contains a `runId`.
   */
  readonly retryable: boolean

  constructor(code: ClientErrorCode, message: string, options: TuttiClientErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    Object.defineProperty(this, BRAND, { value: true })
    this.code = code
    this.status = options.status
    this.problems = options.problems
    this.retryAfterMs = options.retryAfterMs
    this.requestId = options.requestId
    this.retryable = options.retryable ?? isRetryable(code)
  }

  /** Whether `value` is an error of a Tutti client, including one of another copy of this package. */
  static isInstance(value: unknown): value is TuttiClientError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

/** An awaited run ended with FAILED or CANCELLED; the code is RUN_FAILED or RUN_CANCELLED. */
export class UnfinishedRunError extends TuttiClientError {
  override readonly name: string = 'UnfinishedRunError'
  /** The run as it ended. */
  readonly run: RunEnd

  constructor(run: RunEnd) {
    const { runId, status, error } = run
    const reason = error === undefined ? '' : `: ${error}`
    const code = status === 'CANCELLED' ? 'RUN_CANCELLED' : 'RUN_FAILED'
    super(code, `Run "${runId}" ended with status ${status}${reason}`)
    Object.defineProperty(this, UNFINISHED_BRAND, { value: true })
    this.run = run
  }

  /** Whether `value` is such an error, including one of another copy of this package. */
  static override isInstance(value: unknown): value is UnfinishedRunError {
    return typeof value === 'object' && value !== null && UNFINISHED_BRAND in value
  }
}

function isRetryable(code: ClientErrorCode): boolean {
  return isErrorCode(code) ? ERROR_CODES[code].retryable : LOCAL_ERROR_CODES[code].retryable
}
