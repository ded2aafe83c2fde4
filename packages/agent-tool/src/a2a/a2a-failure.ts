/** From what the SDK throws to the failure of an agent. */
import { errorMessage } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'

/** An error of A2A, as the SDK has it, whichever of its copies made it. */
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

/** The failure that something thrown by the SDK is; what is none of an agent is not understood. */
export function a2aFailure(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown
  const said = saidByAgent(thrown)
  if (said === undefined) {
    const message = `The agent answered with what is not A2A: ${errorMessage(thrown)}`
    return new AgentError(message, {
      failureType: 'invalid_response',
      retryable: false,
      cause: thrown,
    })
  }
  const { statusCode, envelopeCode, message } = said
  const code = statusCode ?? envelopeCode
  return new AgentError(`Agent returned error ${code === undefined ? '' : `${code}: `}${message}`, {
    failureType: statusCode === undefined ? 'agent_failed' : 'http_error',
    retryable: false,
    cause: said,
  })
}

/** Whether the agent said that it cannot do what it was asked for, and did nothing. */
export function isRefusal(thrown: unknown): boolean {
  const said = saidByAgent(thrown)
  if (said === undefined) return false
  return said.envelopeCode === METHOD_NOT_FOUND || said.reason === 'UNSUPPORTED_OPERATION'
}

/** Whether the agent said that what it was sent does not fit. */
export function isMisfit(thrown: unknown): boolean {
  return saidByAgent(thrown)?.envelopeCode === INVALID_PARAMS
}

/** Whether the agent said that there is no such task. */
export function isUnknownTask(thrown: unknown): boolean {
  return saidByAgent(thrown)?.reason === 'TASK_NOT_FOUND'
}

/** Whether the agent said something, and it was an error. */
export function isSaidByAgent(thrown: unknown): boolean {
  return saidByAgent(thrown) !== undefined
}

function saidByAgent(thrown: unknown): SdkError | undefined {
  if (isSdkError(thrown)) return thrown
  // An error within a stream is wrapped.
  const cause = thrown instanceof Error ? thrown.cause : undefined
  return isSdkError(cause) ? cause : undefined
}

function isSdkError(value: unknown): value is SdkError {
  return value instanceof Error && BRAND in value
}
