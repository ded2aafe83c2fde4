/**
 * Interprets values of the `/tasks` wire. Pure.
 *
 * JAM-V1 In an envelope of JSON-RPC, `result` is the value and `error` a failure. In other values, `result` and
 *    `error` have no meaning.
 * JAM-V2 `status` is a text, or an object with the text as `state`, as in the first A2A; case does not matter.
 *    `completed` is done. `failed`, `canceled` and `rejected` are failures, although JamJet treats them as results:
 *    a model should not read a failed task as an answer. Other texts are ignored.
 */
import { isJsonObject } from '@tutti/protocol/internal'

import { toAnswerSchema } from '@tutti/agent-tool/internal'

import type { AgentAnswer, AgentFailureType, AgentMode } from '@tutti/agent-call/internal'

/** A value that is not an answer. */
export interface WireFailure {
  readonly kind: 'failure'
  readonly message: string
  readonly failureType: AgentFailureType
  readonly retryable: boolean
}

/** Content of an envelope, or of a value without one. */
export interface Unwrapped {
  readonly value: unknown
  /** Set for a JSON-RPC error, whose envelope is the value. */
  readonly failure?: WireFailure
}

/** Returns the content of a value without its envelope. */
export function unwrapEnvelope(value: unknown): Unwrapped {
  if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') return { value }
  const { error } = value
  if (error !== undefined && error !== null) return { value, failure: toRpcFailure(error) }
  return { value: Object.hasOwn(value, 'result') ? value['result'] : value }
}

/** Returns the id of the task that the content is about. */
export function readTaskId(value: unknown): string | undefined {
  const id = isJsonObject(value) ? value['id'] : undefined
  return typeof id === 'string' ? id : undefined
}

/** Returns the final answer of a turn, or its failure. */
export function toTasksAnswer(value: unknown, mode: AgentMode): AgentAnswer | WireFailure {
  const failure = taskFailure(value)
  if (failure !== undefined) return failure
  const state = readState(value)
  const text = joinText(value)
  const answer = { kind: 'end', output: value, ...(text === undefined ? {} : { text }) } as const
  if (state === 'input-required' || state === 'auth-required') {
    const { output, review } = isJsonObject(value) ? value : {}
    const question = statusText(value) ?? readText(output)
    const questionSchema = toAnswerSchema(review)
    return {
      ...answer,
      state: 'input_required',
      ...(question === undefined ? {} : { question }),
      ...(questionSchema === undefined ? {} : { questionSchema }),
    }
  }
  const isOpen = mode === 'conversational' && state !== 'completed'
  return { ...answer, state: isOpen ? 'open' : 'completed' }
}

const FAILURES: Readonly<Record<string, string>> = {
  failed: 'The agent failed',
  canceled: 'The agent cancelled the task',
  rejected: 'The agent rejected the task',
}

/** Returns the failure of a task; undefined if it has not failed. */
export function taskFailure(value: unknown): WireFailure | undefined {
  const state = readState(value)
  if (state === undefined || !isJsonObject(value)) return undefined
  const words = statusText(value)
  const why = words === undefined ? '' : `: ${words}`
  const what = FAILURES[state]
  if (what !== undefined) {
    const retryable = value['retryable'] === true
    return { kind: 'failure', message: `${what}${why}`, failureType: 'agent_failed', retryable }
  }
  // A working task that can no longer be followed has not failed.
  if (state !== 'working' || typeof value['error'] !== 'string') return undefined
  const message = `The agent stopped reporting a running task${why}`
  return { kind: 'failure', message, failureType: 'connection_lost', retryable: true }
}

function readState(value: unknown): string | undefined {
  const status = isJsonObject(value) ? value['status'] : undefined
  const state = isJsonObject(status) ? status['state'] : status
  if (typeof state !== 'string') return undefined
  const word = state
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^task-state-/, '')
  return word === 'cancelled' ? 'canceled' : word
}

/** Returns the text of a task's status message. */
function statusText(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined
  const { question, message, error, status } = value
  const said = isJsonObject(status) ? status['message'] : undefined
  const texts = [question, message, said, isJsonObject(error) ? error['message'] : error]
  return texts.map(readText).find((text) => text !== undefined)
}

/** Returns a text, or the joined texts of a message's parts. */
function readText(message: unknown): string | undefined {
  if (typeof message === 'string') return message === '' ? undefined : message
  const parts = isJsonObject(message) ? message['parts'] : undefined
  if (!Array.isArray(parts)) return undefined
  const texts = parts.flatMap((part: unknown) => {
    const text = isJsonObject(part) ? part['text'] : undefined
    return typeof text === 'string' ? [text] : []
  })
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** Fields about the task other than its `output`. */
const ABOUT_TASK: ReadonlySet<string> = new Set([
  'artifacts',
  'cost_usd',
  'duration_ms',
  'id',
  'output',
  'sessionId',
  'status',
  'total_cost_usd',
  'total_tokens',
])

/** Returns the output of a task that has no other content for a model. */
function joinText(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined
  const { output } = value
  const isAll = Object.keys(value).every((key) => ABOUT_TASK.has(key))
  return typeof output === 'string' && isAll ? output : undefined
}

function toRpcFailure(error: unknown): WireFailure {
  const { message, code, data } = isJsonObject(error) ? error : {}
  const words = typeof message === 'string' ? message : JSON.stringify(error)
  const number = typeof code === 'number' ? ` (${code})` : ''
  return {
    kind: 'failure',
    message: `The agent responded with an error: ${words}${number}`,
    failureType: 'agent_failed',
    retryable: isJsonObject(data) && data['retryable'] === true,
  }
}
