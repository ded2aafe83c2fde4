/** Why there was no answer, in words that hold no secret: of the URL they name the origin at most. */
import { errorMessage, TuttiError } from '@tutti/core'

/** Codes of errors → what they mean for a reader. */
const MEANINGS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the server is self-signed',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_DESTROYED: 'the tool was closed',
  UND_ERR_CLOSED: 'the tool was closed',
}

/** The words for what was thrown; the real cause, which libraries hide in others. */
export function failureReason(error: unknown, origin: string): string {
  const cause = realCause(error)
  // A guard says itself what it refused.
  if (TuttiError.isInstance(cause)) return cause.message
  const code = codeOf(cause)
  const meaning = MEANINGS[code]
  if (meaning !== undefined) return `${meaning} (${origin})`
  if (cause instanceof Error && cause.name === 'HTTPParserError')
    return `the answer is not HTTP (${origin})`
  return `${errorMessage(cause)} (${origin})`
}

/** Whether the same request may get an answer when it is made again. */
export function mayPass(error: unknown): boolean {
  const cause = realCause(error)
  if (TuttiError.isInstance(cause)) return false
  return !(cause instanceof RangeError || codeOf(cause) === 'UND_ERR_INVALID_ARG')
}

/** The error at the bottom: several tries to connect are told by the first of them. */
function realCause(error: unknown): unknown {
  let cause = error
  for (let depth = 0; depth < 5; depth += 1) {
    const next = nextCause(cause)
    if (next === undefined) return cause
    cause = next
  }
  return cause
}

function nextCause(error: unknown): unknown {
  if (error instanceof AggregateError) return error.errors[0]
  return error instanceof Error ? error.cause : undefined
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
