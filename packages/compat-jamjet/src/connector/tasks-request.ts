/**
 * Creates requests of the `/tasks` wire. Pure.
 *
 * JAM-TQ1 They equal JamJet's byte for byte: without the `id` of JSON-RPC, and with the input as compact JSON with
 *    sorted keys in the text of one part. A text is quoted, and a missing input is `{}`.
 * JAM-TQ2 Fields that JamJet does not send are sent only when they have a value: the budget, and with an answer the
 *    id of the task that asked.
 */
import { errorMessage } from '@tutti/core/internal'
import { AgentError, sortedJson } from '@tutti/agent-call/internal'

import { toLimitsMetadata } from '@tutti/agent-tool/internal'

import type { Remaining } from '@tutti/core/internal'

/** The method, which is also the path. */
export type TasksMethod = 'tasks/send' | 'tasks/sendSubscribe'

/** The request of one turn. */
export interface TasksRequest {
  readonly method: TasksMethod
  readonly input: unknown
  readonly remaining: Remaining
  /** The task whose question the input answers. */
  readonly taskId: string | undefined
}

/**
 * Returns the body of a request.
 *
 * @throws {AgentError} configuration for an input that cannot be converted to JSON.
 */
export function createTasksRequest({ method, input, remaining, taskId }: TasksRequest): string {
  const metadata = budgetMetadata(remaining)
  const params = {
    ...(taskId === undefined ? {} : { id: taskId }),
    message: { parts: [{ text: toCompactJson(input ?? (input === null ? null : {})) }] },
    ...(metadata === undefined ? {} : { metadata }),
  }
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

/** A time limit alone is not sent, because each call has one: when it passes, the agent is cancelled. */
function budgetMetadata(remaining: Remaining): object | undefined {
  const { costUsd, tokens } = remaining
  return Number.isFinite(costUsd) || Number.isFinite(tokens)
    ? toLimitsMetadata(remaining)
    : undefined
}

function toCompactJson(input: unknown): string {
  try {
    if (typeof input === 'function' || typeof input === 'symbol')
      throw new TypeError(`a ${typeof input} cannot be converted to JSON`)
    return sortedJson(input)
  } catch (cause) {
    const message = `Cannot send the input, which must be JSON: ${errorMessage(cause)}`
    throw new AgentError(message, { failureType: 'configuration', retryable: false, cause })
  }
}
