/** Converts errors of the SDK to failures of an agent. */
import { errorMessage } from '@tutti/core/internal'
import { AgentError } from '@tutti/agent-call/internal'

/** An A2A error of the SDK; several copies of the SDK may be installed. */
interface SdkError extends Error {
  readonly reason: string
  /** Set on REST. */
  readonly statusCode?: number
  /** Set on JSON-RPC. */
  readonly envelopeCode?: number
}

/** Brand of SDK errors. */
const BRAND = Symbol.for('@a2a-js/sdk.A2AError')

/** Error codes of JSON-RPC. @see https://www.jsonrpc.org/specification#error_object */
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602

/** Converts an error of the SDK. An error that the agent did not send means an invalid response. */
export function toA2aFailure(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown
  const sent = findAgentError(thrown)
  if (sent === undefined) {
    const message = `The agent sent an invalid A2A response: ${errorMessage(thrown)}`
    return new AgentError(message, {
      failureType: 'invalid_response',
      retryable: false,
      cause: thrown,
    })
  }
  const { statusCode, envelopeCode, message } = sent
  const code = statusCode ?? envelopeCode
  return new AgentError(`Agent returned error ${code === undefined ? '' : `${code}: `}${message}`, {
    failureType: statusCode === undefined ? 'agent_failed' : 'http_error',
    retryable: false,
    cause: sent,
  })
}

/** Returns whether the agent rejected an operation as unsupported, so that it had no effect. */
export function isRefusal(thrown: unknown): boolean {
  const sent = findAgentError(thrown)
  if (sent === undefined) return false
  return sent.envelopeCode === METHOD_NOT_FOUND || sent.reason === 'UNSUPPORTED_OPERATION'
}

/** Returns whether the agent rejected the parameters. */
export function isInvalidParams(thrown: unknown): boolean {
  return findAgentError(thrown)?.envelopeCode === INVALID_PARAMS
}

/** Returns whether the agent does not know the task. */
export function isUnknownTask(thrown: unknown): boolean {
  return findAgentError(thrown)?.reason === 'TASK_NOT_FOUND'
}

/** Returns whether the agent itself sent the error. */
export function isAgentError(thrown: unknown): boolean {
  return findAgentError(thrown) !== undefined
}

function findAgentError(thrown: unknown): SdkError | undefined {
  if (isSdkError(thrown)) return thrown
  // An error within a stream is wrapped.
  const cause = thrown instanceof Error ? thrown.cause : undefined
  return isSdkError(cause) ? cause : undefined
}

function isSdkError(value: unknown): value is SdkError {
  return value instanceof Error && BRAND in value
}
