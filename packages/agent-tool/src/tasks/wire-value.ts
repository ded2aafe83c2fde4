/**
 * What a value of the wire says. Pure.
 *
 * A1 In an envelope of JSON-RPC the `result` is what is said, and an `error` is a failure. Anything else is said
 *    as it is; `result` and `error` mean nothing in it.
 * A2 `status` is a text, or an object with it as `state`, as in the first A2A; in any case of letters.
 *    `completed` is done. `failed`, `canceled` and `rejected` are failures, though JamJet takes them for results:
 *    a model that is told that a task failed should not read it as an answer. Other words, and none, mean nothing.
 */
import { isJsonObject } from '@tutti/protocol'

import type { AgentAnswer, AgentFailureType, AgentMode } from '@tutti/agent-call'

/** A value that is no answer. */
export interface WireFailure {
  readonly kind: 'failure'
  readonly message: string
  readonly failureType: AgentFailureType
  readonly retryable: boolean
}

/** What is said in an envelope, or without one. */
export interface Unwrapped {
  readonly value: unknown
  /** For an error of JSON-RPC, whose envelope is the value. */
  readonly failure?: WireFailure
}

/** What is said, without its envelope. */
export function unwrapEnvelope(value: unknown): Unwrapped {
  if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') return { value }
  const { error } = value
  if (error !== undefined && error !== null) return { value, failure: rpcFailure(error) }
  return { value: Object.hasOwn(value, 'result') ? value['result'] : value }
}

/** The id of the task that it is about. */
export function taskIdOf(value: unknown): string | undefined {
  const id = isJsonObject(value) ? value['id'] : undefined
  return typeof id === 'string' ? id : undefined
}

/** The answer that a value is, the last of its turn, or the failure. */
export function toTasksAnswer(value: unknown, mode: AgentMode): AgentAnswer | WireFailure {
  const failure = taskFailure(value)
  if (failure !== undefined) return failure
  const state = stateOf(value)
  const text = textOf(value)
  const answer = { kind: 'end', output: value, ...(text === undefined ? {} : { text }) } as const
  if (state === 'input-required' || state === 'auth-required') {
    const question = wordsOf(value) ?? text
    return { ...answer, state: 'input_required', ...(question === undefined ? {} : { question }) }
  }
  const isOpen = mode === 'conversational' && state !== 'completed'
  return { ...answer, state: isOpen ? 'open' : 'completed' }
}

const FAILURES: Readonly<Record<string, string>> = {
  failed: 'The agent failed',
  canceled: 'The agent canceled the task',
  rejected: 'The agent rejected the task',
}

/** The failure that a task is; undefined for one that is none. */
export function taskFailure(value: unknown): WireFailure | undefined {
  const state = stateOf(value)
  if (state === undefined || !isJsonObject(value)) return undefined
  const words = wordsOf(value)
  const why = words === undefined ? '' : `: ${words}`
  const what = FAILURES[state]
  if (what !== undefined) {
    const retryable = value['retryable'] === true
    return { kind: 'failure', message: `${what}${why}`, failureType: 'agent_failed', retryable }
  }
  // A task that is at work and cannot be told of any more has not failed.
  if (state !== 'working' || typeof value['error'] !== 'string') return undefined
  const message = `The agent stopped telling of a task that is at work${why}`
  return { kind: 'failure', message, failureType: 'connection_lost', retryable: true }
}

function stateOf(value: unknown): string | undefined {
  const status = isJsonObject(value) ? value['status'] : undefined
  const state = isJsonObject(status) ? status['state'] : status
  if (typeof state !== 'string') return undefined
  const word = state
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^task-state-/, '')
  return word === 'cancelled' ? 'canceled' : word
}

/** What a task says in words about its state. */
function wordsOf(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined
  const { question, message, error, status } = value
  const said = isJsonObject(status) ? status['message'] : undefined
  const texts = [question, message, said, isJsonObject(error) ? error['message'] : error]
  return texts.map(textOfMessage).find((text) => text !== undefined)
}

/** A text, or the texts of the parts of a message. */
function textOfMessage(message: unknown): string | undefined {
  if (typeof message === 'string') return message === '' ? undefined : message
  const parts = isJsonObject(message) ? message['parts'] : undefined
  if (!Array.isArray(parts)) return undefined
  const texts = parts.flatMap((part: unknown) => {
    const text = isJsonObject(part) ? part['text'] : undefined
    return typeof text === 'string' ? [text] : []
  })
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** Fields that are about the task, beside its `output`. */
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

/** The output of a task that says nothing else for a model to read. */
function textOf(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined
  const { output } = value
  const isAll = Object.keys(value).every((key) => ABOUT_TASK.has(key))
  return typeof output === 'string' && isAll ? output : undefined
}

function rpcFailure(error: unknown): WireFailure {
  const { message, code, data } = isJsonObject(error) ? error : {}
  const words = typeof message === 'string' ? message : JSON.stringify(error)
  const number = typeof code === 'number' ? ` (${code})` : ''
  return {
    kind: 'failure',
    message: `The agent answered with an error: ${words}${number}`,
    failureType: 'agent_failed',
    retryable: isJsonObject(data) && data['retryable'] === true,
  }
}
