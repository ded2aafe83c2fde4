/** Configured headers for requests to an agent, such as keys. */
import { errorMessage } from '@tutti/core/internal'
import { findHeaderProblems } from '@tutti/net/internal'
import { AgentError } from '@tutti/agent-call/internal'

import { createConfigurationFailure } from './http-failure.ts'

/** Headers by name. */
export type AgentHeaders = Readonly<Record<string, string>>

/** Headers, or a function that returns them for each request, for example for a key that expires. */
export type AgentHeaderSource = AgentHeaders | (() => AgentHeaders | Promise<AgentHeaders>)

/**
 * Returns the headers of one request.
 *
 * @throws {AgentError} when the function throws, or the headers are invalid.
 */
export async function ownHeaders(
  source: AgentHeaderSource,
  signal: AbortSignal | undefined,
): Promise<AgentHeaders> {
  if (typeof source !== 'function') return source
  const headers = await raceAbort(callSource(source), signal)
  const problems = findHeaderProblems(headers)
  if (problems.length > 0)
    throw createConfigurationFailure(`Cannot send the headers of the tool: ${problems.join('; ')}`)
  return headers
}

async function callSource(
  source: () => AgentHeaders | Promise<AgentHeaders>,
): Promise<AgentHeaders> {
  try {
    return await source()
  } catch (cause) {
    if (cause instanceof AgentError) throw cause
    const retryable = cause instanceof Error && 'retryable' in cause && cause.retryable === true
    const message = `Cannot get the headers for the agent: ${errorMessage(cause)}`
    throw new AgentError(message, { failureType: 'configuration', retryable, cause })
  }
}

function raceAbort<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    const stay = (): void => {
      signal.removeEventListener('abort', leave)
    }
    promise.then(resolve, reject).finally(stay)
  })
}
