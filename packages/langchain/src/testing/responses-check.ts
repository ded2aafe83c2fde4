/** Checks requests as OpenAI's Responses API would, with its error messages. Pure. */
import { fieldsOf, itemsOf } from './pieces.ts'
import {
  findRuleProblem,
  rulesOf,
  type CheckedMessage,
  type CheckedRequest,
} from './rules-check.ts'
import { findFormatProblem } from './schema-check.ts'

import type { StubRequest } from './provider-stub.ts'

type Fields = StubRequest['body']

/** Returns the error for the body of a request, or undefined for a valid one. */
export function findResponsesProblem(body: Fields): string | undefined {
  if (typeof body['model'] !== 'string') return 'you must provide a model parameter'
  if (body['stream'] !== true) return 'This stub only streams: set "stream": true'
  const { format } = fieldsOf(body['text'])
  const { type, ...asked } = fieldsOf(format)
  return (
    findToolProblem(body) ??
    (type === 'json_schema' ? findFormatProblem(asked) : undefined) ??
    findItemProblem(itemsOf(body['input'])) ??
    findRuleProblem(readSent(body), rulesOf('openai-responses'))
  )
}

/** Returns the parts of a request that have rules. */
function readSent(body: Fields): CheckedRequest {
  const tools = itemsOf(body['tools']).map(({ name, parameters }, index) => {
    return { name: String(name), at: `tools[${index}].name`, schema: parameters }
  })
  const messages = itemsOf(body['input']).map((item, index): CheckedMessage => {
    const at = `input[${index}]`
    const { type, call_id: id, name } = item
    if (type === 'function_call_output') return { role: 'tool', at, text: undefined, calls: [] }
    const role = item['role'] === 'user' ? 'user' : 'assistant'
    if (type !== 'function_call') return { role, at, text: undefined, calls: [] }
    const call = { id: String(id), idAt: `${at}.call_id`, name: String(name), nameAt: `${at}.name` }
    return { role: 'assistant', at, text: undefined, calls: [call] }
  })
  return { body, tools, messages }
}

function findToolProblem({ tools, tool_choice: choice }: Fields): string | undefined {
  if (tools === undefined) {
    return choice === undefined
      ? undefined
      : "'tool_choice' is only allowed when 'tools' are specified."
  }
  const bad = itemsOf(tools).findIndex(
    ({ type, name, parameters }) =>
      type !== 'function' || typeof name !== 'string' || fieldsOf(parameters)['type'] !== 'object',
  )
  return bad < 0 ? undefined : `Invalid 'tools[${bad}]'.`
}

/**
 * Reasoning requires the item that followed it, a call after reasoning requires that reasoning, and each call
 * requires its output. Ids show which items belong together: in these stubs `fc_1_0` is a call of answer 1,
 * and `rs_1` its reasoning.
 */
function findItemProblem(items: readonly Fields[]): string | undefined {
  if (items.length === 0) return "Missing required parameter: 'input'."
  const given = new Set(items.map(({ id }) => id))
  const open = new Set<string>()
  for (const [index, { type, id, call_id: callId }] of items.entries()) {
    const next = items[index + 1]
    if (type === 'reasoning') {
      if (next?.['type'] !== 'function_call' && next?.['role'] !== 'assistant') {
        return `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`
      }
      if (!/^rs_\d+$/.test(String(id))) return `Item with id '${String(id)}' not found.`
    }
    if (type === 'function_call') {
      const reasoning = /^fc_(\d+)r_/.exec(String(id))?.[1]
      if (reasoning !== undefined && !given.has(`rs_${reasoning}`)) {
        return `Item '${String(id)}' of type 'function_call' was provided without its required 'reasoning' item: 'rs_${reasoning}'.`
      }
      open.add(String(callId))
    }
    if (type === 'function_call_output' && !open.delete(String(callId))) {
      return `No tool call found for function call output with call_id ${String(callId)}.`
    }
  }
  const [unanswered] = open
  return unanswered === undefined
    ? undefined
    : `No tool output found for function call ${unanswered}.`
}
