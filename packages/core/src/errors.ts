/**
 * The error type of Tutti. Expected outcomes are values; a thrown error has a stable code, so that callers can act on it
 * without parsing its message.
 */
import { previewOf } from '@tutti/protocol/basics'

import { sliceWholeCharacters } from './limit-text.ts'

import type { ErrorCode, FailureCode } from '@tutti/protocol'

const BRAND = Symbol.for('tutti.error')

/**
 * Marks an error whose message already has what its cause says, and nothing that must stay private: {@link errorMessage}
 * adds no cause to it.
 */
export const COMPLETE_MESSAGE: unique symbol = Symbol.for('tutti.completeMessage')

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

  get [COMPLETE_MESSAGE](): true {
    return true
  }

  /** Whether `value` is a Tutti error, including one of another copy of this package. */
  static isInstance(value: unknown): value is TuttiError {
    try {
      return typeof value === 'object' && value !== null && BRAND in value
    } catch {
      // A proxy can throw for any question.
      return false
    }
  }

  /** Converts a thrown value to a Tutti error; returns a Tutti error unchanged. */
  static from(value: unknown, code: ErrorCode | FailureCode): TuttiError {
    if (TuttiError.isInstance(value)) return value
    return new TuttiError(code, errorMessage(value), { cause: value })
  }
}

/** Maximum length of a message, in UTF-16 units. */
export const MAX_ERROR_MESSAGE_LENGTH = 8_000

/** Maximum number of causes, and of levels of aggregates. */
const MAX_DEPTH = 8

/** Maximum number of errors in one message. */
const MAX_ERRORS = 100

/** Maximum number of errors of an aggregate that a message lists. */
const MAX_LISTED_ERRORS = 10

const UNKNOWN = 'Unknown error'

const TOO_DEEP = `errors nested more than ${MAX_DEPTH} levels deep are left out`
const TOO_MANY = `errors after the first ${MAX_ERRORS} are left out`

/**
 * Returns the message of a thrown value, with those of its causes: `fetch failed: connect ECONNREFUSED 127.0.0.1:1`. An
 * aggregate lists its errors, an object that is not an error has its `message` and `code`. Errors that are left out are
 * mentioned. Never empty, never throws, at most {@link MAX_ERROR_MESSAGE_LENGTH} characters long.
 */
export function errorMessage(value: unknown): string {
  const text = explain(value, { depth: 0, above: [], budget: { left: MAX_ERRORS } }) ?? UNKNOWN
  if (text.length <= MAX_ERROR_MESSAGE_LENGTH) return text
  return `${sliceWholeCharacters(text, MAX_ERROR_MESSAGE_LENGTH - 1)}…`
}

/** Position of a thrown value among the causes of others. */
interface Position {
  readonly depth: number
  /** Values that have this one as a cause or as a part. */
  readonly above: readonly unknown[]
  /** Number of further errors that the message may have; shared by all positions. */
  readonly budget: { left: number }
}

/** Returns the message of a value with its causes; undefined if it has none. */
function explain(value: unknown, { depth, above, budget }: Position): string | undefined {
  if (value === undefined || value === null || above.includes(value)) return undefined
  if (depth > MAX_DEPTH) return TOO_DEEP
  if (budget.left === 0) return TOO_MANY
  budget.left -= 1
  if (typeof value !== 'object') return explainScalar(value)
  const below: Position = { depth: depth + 1, above: [...above, value], budget }
  const own = readOwnMessage(value)
  if (readField(value, COMPLETE_MESSAGE) === true) return own
  return join(own, [...explainParts(value, below), explain(readField(value, 'cause'), below)])
}

function explainScalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  const hasText = ['number', 'bigint', 'boolean', 'symbol'].includes(typeof value)
  return hasText ? String(value) : undefined
}

/** Returns the texts of the errors of an aggregate, as one text. */
function explainParts(value: object, below: Position): readonly string[] {
  const errors = readField(value, 'errors')
  if (!(isError(value) && Array.isArray(errors)) || errors.length === 0) return []
  const texts = errors.slice(0, MAX_LISTED_ERRORS).map((each) => explain(each, below) ?? UNKNOWN)
  const more = errors.length - texts.length
  return [[...new Set(texts), ...(more > 0 ? [`${more} more`] : [])].join('; ')]
}

/** Returns the message of an error or of another object, without causes. */
function readOwnMessage(value: object): string | undefined {
  const message = readField(value, 'message')
  const text = typeof message === 'string' && message !== '' ? message : undefined
  if (isError(value)) return text ?? readName(value)
  const code = readField(value, 'code') ?? readField(value, 'status')
  const hasCode = (typeof code === 'string' && code !== '') || typeof code === 'number'
  const what =
    text ?? readNested(value) ?? (hasCode ? `${readClassName(value)} ${code}` : undefined)
  if (what === undefined) return preview(value)
  return hasCode && !what.includes(String(code)) ? `${what} (${code})` : what
}

/** Returns the reason that some services nest in an `error` field. */
function readNested(value: object): string | undefined {
  const error = readField(value, 'error')
  const message = typeof error === 'object' && error !== null ? readField(error, 'message') : error
  return typeof message === 'string' && message !== '' ? message : undefined
}

function readName(value: object): string | undefined {
  const name = readField(value, 'name')
  return typeof name === 'string' && name !== '' ? name : undefined
}

function readClassName(value: object): string {
  const constructor = readField(value, 'constructor')
  const name = typeof constructor === 'function' ? readName(constructor) : undefined
  return name === undefined || name === 'Object' ? 'Error' : name
}

/** Returns the start of an object as JSON; undefined if it has no fields. */
function preview(value: object): string | undefined {
  try {
    return Object.keys(value).length === 0 ? undefined : previewOf(value)
  } catch {
    return undefined
  }
}

/** Appends texts that the message does not already contain. */
function join(
  message: string | undefined,
  more: readonly (string | undefined)[],
): string | undefined {
  let text = message
  for (const each of more) {
    if (each === undefined || text?.includes(each) === true) continue
    text = text === undefined ? each : `${text.replace(/[\s.:]+$/, '')}: ${each}`
  }
  return text
}

/** Returns a field; undefined if its getter throws. */
function readField(value: object, key: PropertyKey): unknown {
  try {
    return Reflect.get(value, key)
  } catch {
    return undefined
  }
}

/** Whether a value is an error. A proxy can throw when its prototype is read. */
function isError(value: object): boolean {
  try {
    return value instanceof Error
  } catch {
    return false
  }
}
