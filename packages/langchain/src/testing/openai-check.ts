/** Checks requests as OpenAI would, with its error messages. Pure. */
import { fieldsOf, itemsOf } from './pieces.ts'
import { findResponsesProblem } from './responses-check.ts'
import {
  findRuleProblem,
  rulesOf,
  type CheckedMessage,
  type CheckedRequest,
} from './rules-check.ts'
import { findFormatProblem } from './schema-check.ts'

import type { StubFailure, StubRequest } from './provider-stub.ts'

const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

/**
 * Returns the failure response to a request, or undefined for a valid one. The rules on conversations and tools are
 * those of `service`, a name in `provider-rules.ts`.
 */
export function findOpenaiProblem(
  request: StubRequest,
  service = 'openai',
): StubFailure | undefined {
  const { method, path, headers, body } = request
  const chat = /^\/[^?]*\/chat\/completions(\?|$)/.test(path)
  if (method !== 'POST' || !(chat || isResponsesPath(path))) {
    return { status: 404, message: `Invalid URL (${method} ${path})` }
  }
  // NOTE: Azure uses `api-key` with the same format.
  if (!/^Bearer \S+$/.test(headers['authorization'] ?? '') && headers['api-key'] === undefined) {
    return { status: 401, message: "You didn't provide an API key." }
  }
  const message = chat ? findChatProblem(body, service) : findResponsesProblem(body)
  return message === undefined ? undefined : { status: 400, message }
}

/** Returns whether a path is that of the Responses API. */
export function isResponsesPath(path: string): boolean {
  return /^\/[^?]*\/responses(\?|$)/.test(path)
}

function findChatProblem(body: StubRequest['body'], service: string): string | undefined {
  const { type, json_schema: asked } = fieldsOf(body['response_format'])
  return (
    findParameterProblem(body) ??
    findToolProblem(body) ??
    (type === 'json_schema' ? findFormatProblem(fieldsOf(asked)) : undefined) ??
    findRuleProblem(readSent(body), rulesOf(service)) ??
    findMessageProblem(itemsOf(body['messages']))
  )
}

function findParameterProblem(body: StubRequest['body']): string | undefined {
  if (typeof body['model'] !== 'string') return 'you must provide a model parameter'
  if (body['stream'] !== true) return 'This stub only streams: set "stream": true'
  if (itemsOf(body['messages']).length === 0) return "Invalid 'messages': empty array."
  return undefined
}

function findToolProblem(body: StubRequest['body']): string | undefined {
  const { tools, tool_choice: choice } = body
  if (tools === undefined) {
    return choice === undefined
      ? undefined
      : "'tool_choice' is only allowed when 'tools' are specified."
  }
  const bad = itemsOf(tools).findIndex((tool) => {
    const { name, parameters } = fieldsOf(tool['function'])
    const isNamed = typeof name === 'string'
    return tool['type'] !== 'function' || !isNamed || fieldsOf(parameters)['type'] !== 'object'
  })
  if (bad >= 0) return `Invalid 'tools[${bad}].function'.`
  if (itemsOf(tools).length === 0) return "Invalid 'tools': empty array."
  return undefined
}

function findMessageProblem(messages: readonly StubRequest['body'][]): string | undefined {
  let open: readonly string[] = []
  for (const [index, message] of messages.entries()) {
    const { role } = message
    if (!ROLES.has(role)) return `Invalid value: '${String(role)}' at 'messages[${index}].role'.`
    if (role === 'tool') {
      const id = String(message['tool_call_id'])
      if (!open.includes(id)) {
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
      }
      open = open.filter((other) => other !== id)
      continue
    }
    if (open.length > 0) return unanswered(open)
    const calls = itemsOf(message['tool_calls'])
    if (message['content'] === undefined && calls.length === 0) {
      return `Invalid value for 'content': expected a string, got null. ('messages[${index}].content')`
    }
    const problem = findCallProblem(calls, index)
    if (problem !== undefined) return problem
    open = calls.map((call) => String(call['id']))
  }
  return open.length > 0 ? unanswered(open) : undefined
}

function findCallProblem(calls: readonly StubRequest['body'][], index: number): string | undefined {
  for (const [position, call] of calls.entries()) {
    const at = `messages[${index}].tool_calls[${position}]`
    const { id } = call
    if (typeof id !== 'string') return `Invalid type for '${at}.id': expected a string.`
    if (typeof fieldsOf(call['function'])['arguments'] !== 'string') {
      return `Invalid type for '${at}.function.arguments': expected a string.`
    }
  }
  return undefined
}

function unanswered(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`
}

/** Returns the parts of a request that have rules. */
function readSent(body: StubRequest['body']): CheckedRequest {
  const tools = itemsOf(body['tools']).map((tool, index) => {
    const { name, parameters } = fieldsOf(tool['function'])
    const at = `tools[${index}].function.name`
    return { name: String(name), at, schema: parameters }
  })
  return { body, tools, messages: itemsOf(body['messages']).map(readMessage) }
}

function readMessage(message: StubRequest['body'], index: number): CheckedMessage {
  const at = `messages[${index}]`
  const { role, content } = message
  const calls = itemsOf(message['tool_calls']).map((call, position) => ({
    id: String(call['id']),
    idAt: `${at}.tool_calls[${position}].id`,
    name: String(fieldsOf(call['function'])['name']),
    nameAt: `${at}.tool_calls[${position}].function.name`,
  }))
  return { role: toRole(role), at, text: readContent(content), calls }
}

function toRole(role: unknown): CheckedMessage['role'] {
  if (role === 'assistant' || role === 'tool' || role === 'user') return role
  return 'system'
}

/** Returns the text of a content: a string, or parts. */
function readContent(content: unknown): string {
  if (typeof content === 'string') return content
  const texts = itemsOf(content).map(({ text }) => (typeof text === 'string' ? text : ''))
  return texts.join('')
}
