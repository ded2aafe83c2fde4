/** The one error that this package throws, whatever went wrong between the caller and the server. */
import { ERROR_CODES, isErrorCode, type ErrorCode, type Problem } from '@tutti/protocol'

import type { RunEnd } from './runs/ended-run.ts'

const BRAND = Symbol.for('tutti.client-error')
const UNFINISHED_BRAND = Symbol.for('tutti.unfinished-run-error')

/** Code of a failure that the server did not report itself → whether a repeat may work, and why it failed. */
export const LOCAL_ERROR_CODES = {
  CONNECTION_FAILED: {
    retryable: true,
    meaning: 'The server could not be reached, or the connection broke',
  },
  TIMED_OUT: { retryable: true, meaning: 'The server took longer than the time limit' },
  BAD_RESPONSE: { retryable: false, meaning: 'The answer is none that this API gives' },
  ABORTED: {
    retryable: false,
    meaning: 'The signal of the caller aborted, or it closed what waits',
  },
  REFUSED: { retryable: false, meaning: 'The server refused a message; its own words say why' },
  SLOW_READER: {
    retryable: true,
    meaning: 'Too many events of a socket waited for their reader; begin again after the last one',
  },
  RUN_FAILED: { retryable: false, meaning: 'The run that was waited for has failed' },
  RUN_CANCELLED: { retryable: false, meaning: 'The run that was waited for was cancelled' },
} as const

/** A code of `LOCAL_ERROR_CODES`. */
export type LocalErrorCode = keyof typeof LOCAL_ERROR_CODES

/** Why a call failed: the code in the server's error body, or one of this side. */
export type ClientErrorCode = ErrorCode | LocalErrorCode

/** Everything a {@link TuttiClientError} holds besides its code and message. */
export interface TuttiClientErrorOptions {
  /** HTTP status, when there was an answer. */
  readonly status?: number | undefined
  readonly problems?: readonly Problem[] | undefined
  readonly retryAfterMs?: number | undefined
  readonly requestId?: string | undefined
  /** @default what the code says */
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** A call that failed. */
export class TuttiClientError extends Error {
  override readonly name: string = 'TuttiClientError'
  readonly code: ClientErrorCode
  /** HTTP status of the answer; undefined when there was none. */
  readonly status: number | undefined
  /** Every place that does not fit: of the request (`BAD_REQUEST`) or of the answer (`BAD_RESPONSE`). */
  readonly problems: readonly Problem[] | undefined
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs: number | undefined
  /** Under which the server's log has more. */
  readonly requestId: string | undefined
  /**
   * Whether the same call may work later. A submit that is repeated starts a second run, unless it has an
   * `idempotencyKey` or its body names the `runId`.
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

  /** Whether `value` is an error of a Tutti client, also one made by another copy of this package. */
  static isInstance(value: unknown): value is TuttiClientError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

/** A run that was waited for and has not COMPLETED: RUN_FAILED or RUN_CANCELLED. */
export class UnfinishedRunError extends TuttiClientError {
  override readonly name: string = 'UnfinishedRunError'
  /** The run as it ended. */
  readonly run: RunEnd

  constructor(run: RunEnd) {
    const { runId, status, error } = run
    const reason = error === undefined ? '' : `: ${error}`
    const code = status === 'CANCELLED' ? 'RUN_CANCELLED' : 'RUN_FAILED'
    super(code, `Run "${runId}" must end COMPLETED, got ${status}${reason}`)
    Object.defineProperty(this, UNFINISHED_BRAND, { value: true })
    this.run = run
  }

  /** Whether `value` is such an error, also one made by another copy of this package. */
  static override isInstance(value: unknown): value is UnfinishedRunError {
    return typeof value === 'object' && value !== null && UNFINISHED_BRAND in value
  }
}

function isRetryable(code: ClientErrorCode): boolean {
  return isErrorCode(code) ? ERROR_CODES[code].retryable : LOCAL_ERROR_CODES[code].retryable
}
