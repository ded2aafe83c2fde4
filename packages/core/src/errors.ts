/**
 * The one error type of Tutti. Expected outcomes are values; an error that is thrown carries a stable
 * code, so that a caller can act on it without reading its text.
 */
import type { ErrorCode, FailureCode } from '@tutti/protocol'

const BRAND = Symbol.for('tutti.error')

/** Everything a {@link TuttiError} holds besides its message. */
export interface TuttiErrorOptions {
  /** What led to this error. */
  readonly cause?: unknown
  /** Facts about the error that can be written as JSON, such as the list of problems. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Whether the same call may succeed when it is made again. @default false */
  readonly retryable?: boolean
}

/** An error with a code of `@tutti/protocol`: one that crosses the wire or one a run can end with. */
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

  /** Whether `value` is a Tutti error, also one made by another copy of this package. */
  static isInstance(value: unknown): value is TuttiError {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  /** Turns anything that was thrown into a Tutti error; one that already is one comes back as it is. */
  static from(value: unknown, code: ErrorCode | FailureCode): TuttiError {
    if (TuttiError.isInstance(value)) return value
    return new TuttiError(code, errorMessage(value), { cause: value })
  }
}

/** The text of anything that was thrown; never empty. */
export function errorMessage(value: unknown): string {
  const text = value instanceof Error ? value.message || value.name : value
  return typeof text === 'string' && text !== '' ? text : 'Unknown error'
}
