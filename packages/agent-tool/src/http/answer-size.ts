import { AgentError } from '@tutti/agent-call/internal'
import { findJsonExcess, VALUE_LIMITS } from '@tutti/protocol/internal'

/**
 * Checks the size of a JSON answer before it is parsed.
 *
 * @throws {AgentError} invalid_response when it has too many fields and items, or is nested too deep.
 */
export function assertAnswerSize(json: string): void {
  const excess = findJsonExcess(json, VALUE_LIMITS)
  if (excess === undefined) return
  throw new AgentError(`The agent sent a response that cannot be used: it ${excess}`, {
    failureType: 'invalid_response',
    retryable: false,
  })
}
