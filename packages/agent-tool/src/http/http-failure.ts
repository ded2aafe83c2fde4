/** Converts failures of HTTP to failures of an agent, without secrets in their text. */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { AgentError } from '@tutti/agent-call/internal'
import { NetworkError, toNetworkError } from '@tutti/net/internal'

/**
 * Returns the reason why a request to `origin` has no complete response.
 *
 * @param cause - a rejection of the guard, a network failure, or a system error of a failed connection
 */
export function toHttpFailure(cause: unknown, origin: string): AgentError {
  if (cause instanceof AgentError) return cause
  const failure = toNetworkError(cause, false)
  // The guard's message names the rejected target and the option that allows it.
  if (TuttiError.isInstance(failure)) return createConfigurationFailure(failure.message, failure)
  const reason = errorMessage(failure)
  const kind = failure instanceof NetworkError ? failure.kind : 'unreachable'
  if (kind === 'unreachable') {
    const message = `Cannot reach the agent at ${origin}: ${reason}`
    return new AgentError(message, { failureType: 'unreachable', retryable: true, cause })
  }
  if (kind === 'invalid') {
    const message = `Cannot read the response of the agent at ${origin}: ${reason}`
    return new AgentError(message, { failureType: 'invalid_response', retryable: false, cause })
  }
  const message = `The connection to the agent at ${origin} was lost: ${reason}`
  return new AgentError(message, { failureType: 'connection_lost', retryable: true, cause })
}

/** Returns the failure of a request that the configuration does not allow. */
export function createConfigurationFailure(message: string, cause?: unknown): AgentError {
  return new AgentError(message, {
    failureType: 'configuration',
    retryable: false,
    ...(cause === undefined ? {} : { cause }),
  })
}
