/** Converts errors of the SDK to failures of an agent. */
import { errorMessage } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'

/** An A2A error of the SDK, of any installed copy. */
interface SdkError extends Error {
  readonly reason: string
  /** On REST. */
  readonly statusCode?: number
  /** On JSON-RPC. */
  readonly envelopeCode?: number
}

/** Brand of the errors of the SDK. */
const BRAND = Symbol.for('@a2a-js/sdk.A2AError')

/** Codes of JSON-RPC. @see https://www.jsonrpc.org/specification#error_object */
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602

/** Converts an error of the SDK; one that the agent did not send is an invalid response. */
export function a2aFailure(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown
  const sent = agentErrorIn(thrown)
  if (sent === undefined) {
    const message = `The agent answered with what is not A2A: ${errorMessage(thrown)}`
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

/** Whether the agent refused an operation that it does not support, so that it did nothing. */
export function isRefusal(thrown: unknown): boolean {
  const sent = agentErrorIn(thrown)
  if (sent === undefined) return false
  return sent.envelopeCode === METHOD_NOT_FOUND || sent.reason === 'UNSUPPORTED_OPERATION'
}

/** Whether the agent refused the parameters. */
export function isMisfit(thrown: unknown): boolean {
  return agentErrorIn(thrown)?.envelopeCode === INVALID_PARAMS
}

/** Whether the agent does not know the task. */
export function isUnknownTask(thrown: unknown): boolean {
  return agentErrorIn(thrown)?.reason === 'TASK_NOT_FOUND'
}

/** Whether the agent itself sent the error. */
export function isAgentError(thrown: unknown): boolean {
  return agentErrorIn(thrown) !== undefined
}

function agentErrorIn(thrown: unknown): SdkError | undefined {
  if (isSdkError(thrown)) return thrown
  // An error within a stream is wrapped.
  const cause = thrown instanceof Error ? thrown.cause : undefined
  return isSdkError(cause) ? cause : undefined
}

function isSdkError(value: unknown): value is SdkError {
  return value instanceof Error && BRAND in value
}
