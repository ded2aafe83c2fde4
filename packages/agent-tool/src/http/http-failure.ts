/** Failures of HTTP as failures of an agent, in words that hold no secret. */
import { errorMessage, TuttiError } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'

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
  HPE_HEADER_OVERFLOW: 'its headers are too large',
}

/** Where and when it failed. */
export interface HttpFailurePlace {
  readonly origin: string
  /** `connect`: no connection was made. `exchange`: it was, and the request may have been read. */
  readonly phase: 'connect' | 'exchange'
}

/** Why a request has no answer, or not all of it. */
export function httpFailure(cause: unknown, { origin, phase }: HttpFailurePlace): AgentError {
  if (cause instanceof AgentError) return cause
  // A guard says itself what it refused, and what allows it.
  if (TuttiError.isInstance(cause)) return refused(cause.message, cause)
  const reason = MEANINGS[codeOf(cause)] ?? errorMessage(cause)
  if (phase === 'connect') {
    const message = `Cannot reach the agent at ${origin}: ${reason}`
    return new AgentError(message, { failureType: 'unreachable', retryable: true, cause })
  }
  if (isNotHttp(cause)) {
    const message = `The agent at ${origin} answered with what is not HTTP: ${reason}`
    return new AgentError(message, { failureType: 'invalid_response', retryable: false, cause })
  }
  const message = `The connection to the agent at ${origin} was lost: ${reason}`
  return new AgentError(message, { failureType: 'connection_lost', retryable: true, cause })
}

/** A request that is not made, since whoever set up the tool does not allow it. */
export function refused(message: string, cause?: unknown): AgentError {
  return new AgentError(message, {
    failureType: 'configuration',
    retryable: false,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** Of the parser of Node, and of node:zlib for a body that is not compressed as it says. */
function isNotHttp(error: unknown): boolean {
  return /^(?:HPE_|Z_|ERR_BROTLI|ERR__ERROR_FORMAT)/.test(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
