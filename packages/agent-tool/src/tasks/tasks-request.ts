/**
 * Requests of the tasks wire. Pure.
 *
 * Q1 They are JamJet's, byte for byte: no `id` of JSON-RPC, and the input as the compact JSON of it, with the keys
 *    of its objects sorted, in the text of one part. A text comes in quotes, and no input is `{}`.
 * Q2 What JamJet does not send is sent only where there is something to say: the budget when there is one, and
 *    the id of a task that has asked something, with the answer.
 */
import { errorMessage } from '@tutti/core'
import { AgentError, sortedJson } from '@tutti/agent-call'

import { USAGE_EXTENSION } from '@tutti/protocol'

import type { Remaining } from '@tutti/core'

/** What is asked, and where. */
export type TasksMethod = 'tasks/send' | 'tasks/sendSubscribe'

/** What one turn sends. */
export interface TasksRequest {
  readonly method: TasksMethod
  readonly input: unknown
  readonly remaining: Remaining
  /** The task that has asked something. */
  readonly taskId: string | undefined
}

/**
 * The body of a request.
 *
 * @throws {AgentError} configuration for an input that is no JSON.
 */
export function tasksRequest({ method, input, remaining, taskId }: TasksRequest): string {
  const budget = budgetOf(remaining)
  const params = {
    ...(taskId === undefined ? {} : { id: taskId }),
    message: { parts: [{ text: compactJson(input ?? (input === null ? null : {})) }] },
    ...(budget === undefined ? {} : { metadata: { [USAGE_EXTENSION]: budget } }),
  }
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

/** A time limit alone is not told, as each call has one: the agent is told to stop when it is over. */
function budgetOf({ costUsd, tokens, timeMs }: Remaining): object | undefined {
  if (!Number.isFinite(costUsd) && !Number.isFinite(tokens)) return undefined
  return {
    ...(Number.isFinite(costUsd) ? { max_cost_usd: costUsd } : {}),
    ...(Number.isFinite(tokens) ? { max_tokens: Math.floor(tokens) } : {}),
    ...(Number.isFinite(timeMs) && timeMs > 0 ? { deadline_ms: timeMs } : {}),
  }
}

function compactJson(input: unknown): string {
  try {
    if (typeof input === 'function' || typeof input === 'symbol')
      throw new TypeError(`a ${typeof input} has no JSON`)
    return sortedJson(input)
  } catch (cause) {
    const message = `Cannot send the input, which must be JSON: ${errorMessage(cause)}`
    throw new AgentError(message, { failureType: 'configuration', retryable: false, cause })
  }
}
