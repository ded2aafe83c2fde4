/** Failures of HTTP as failures of an agent, in text without secrets. */
import { errorMessage, TuttiError } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'
import { NetworkError, toNetworkError } from '@tutti/net'

/**
 * Returns why a request to `origin` has no complete answer.
 *
 * @param cause - a refusal of the guard, a failure of the network, or what the system says of a connection that
 *   was not made
 */
export function httpFailure(cause: unknown, origin: string): AgentError {
  if (cause instanceof AgentError) return cause
  const failure = toNetworkError(cause, false)
  // A guard says itself what it refused, and what allows it.
  if (TuttiError.isInstance(failure)) return refused(failure.message, failure)
  const reason = errorMessage(failure)
  const kind = failure instanceof NetworkError ? failure.kind : 'unreachable'
  if (kind === 'unreachable') {
    const message = `Cannot reach the agent at ${origin}: ${reason}`
    return new AgentError(message, { failureType: 'unreachable', retryable: true, cause })
  }
  if (kind === 'invalid') {
    const message = `Cannot read the answer of the agent at ${origin}: ${reason}`
    return new AgentError(message, { failureType: 'invalid_response', retryable: false, cause })
  }
  const message = `The connection to the agent at ${origin} was lost: ${reason}`
  return new AgentError(message, { failureType: 'connection_lost', retryable: true, cause })
}

/** Returns the failure of a request that is not sent because the configuration does not allow it. */
export function refused(message: string, cause?: unknown): AgentError {
  return new AgentError(message, {
    failureType: 'configuration',
    retryable: false,
    ...(cause === undefined ? {} : { cause }),
  })
}
