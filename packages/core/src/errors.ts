/**
 * The error type of Tutti. Expected outcomes are values; a thrown error has a stable code, so that callers can act on it
 * without parsing its message.
 */
import type { ErrorCode, FailureCode } from '@tutti/protocol'

const BRAND = Symbol.for('tutti.error')

/** Everything a {@link TuttiError} holds besides its message. */
export interface TuttiErrorOptions {
  /** Error that led to this one. */
  readonly cause?: unknown
  /** JSON data about the error, such as the list of problems. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Whether a retry of the same call may succeed. @default false */
  readonly retryable?: boolean
}

/** Error with a code of `@tutti/protocol`: an error code of the wire, or a failure code of a run. */
export class TuttiError extends Error {
  override readonly name: string = 'TuttiError'
  readonly code: ErrorCode | FailureCode
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly retryable: boolean

  constructor(code: ErrorCode | FailureCode, message: string, options: TuttiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    Object.defineProperty(this, BRAND, { value: true })
    this.code = code
    this.details = options.details
    this.retryable = options.retryable ?? false
  }

  /** Whether `value` is a Tutti error, including one of another copy of this package. */
  static isInstance(value: unknown): value is TuttiError {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  /** Converts a thrown value to a Tutti error; returns a Tutti error unchanged. */
  static from(value: unknown, code: ErrorCode | FailureCode): TuttiError {
    if (TuttiError.isInstance(value)) return value
    return new TuttiError(code, errorMessage(value), { cause: value })
  }
}

/** Returns the message of a thrown value; never empty. */
export function errorMessage(value: unknown): string {
  const text = value instanceof Error ? value.message || value.name : value
  return typeof text === 'string' && text !== '' ? text : 'Unknown error'
}
