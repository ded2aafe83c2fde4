/** Converts thrown values for messages between threads. */
import { TuttiError } from '@tutti/core/basics'

import type { EncodedError, EncodedTuttiFields } from './messages.ts'

/** Converts a thrown value to plain data. */
export function encodeError(error: unknown): EncodedError {
  if (!(error instanceof Error)) return { kind: 'value', value: error }
  const { name, message, stack, cause } = error
  const encoded = {
    kind: 'error',
    name,
    message,
    stack,
    cause: cause === undefined ? undefined : encodeError(cause),
  } as const
  if (TuttiError.isInstance(error)) {
    const { code, details, retryable } = error
    return { ...encoded, tutti: { code, details, retryable }, fields: {} }
  }
  return { ...encoded, fields: { ...error } }
}

const CLASSES = { RangeError, TypeError, SyntaxError } as const

/** Returns the thrown value of {@link encodeError}. */
export function decodeError(encoded: EncodedError): unknown {
  if (encoded.kind === 'value') return encoded.value
  const { name, message, stack, tutti, fields } = encoded
  const cause = encoded.cause && decodeError(encoded.cause)
  const options = cause === undefined ? {} : { cause }
  const error =
    tutti === undefined
      ? Object.assign(new (findClass(name))(message, options), fields)
      : new TuttiError(tutti.code, message, toOptions(cause, tutti))
  return Object.defineProperty(error, 'stack', {
    value: stack,
    configurable: true,
    writable: true,
  })
}

function findClass(name: string): ErrorConstructor | TypeErrorConstructor {
  return isKnown(name) ? CLASSES[name] : Error
}

function isKnown(name: string): name is keyof typeof CLASSES {
  return Object.hasOwn(CLASSES, name)
}

function toOptions(
  cause: unknown,
  { details, retryable }: EncodedTuttiFields,
): ConstructorParameters<typeof TuttiError>[2] {
  return { cause, retryable, ...(details === undefined ? {} : { details }) }
}
