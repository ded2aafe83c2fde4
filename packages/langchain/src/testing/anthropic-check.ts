/** Checks requests as Anthropic would, with its error messages. Pure. */
import { fieldsOf, itemsOf, signatureOf } from './pieces.ts'
import {
  findRuleProblem,
  rulesOf,
  type CheckedMessage,
  type CheckedRequest,
} from './rules-check.ts'
import { findClosedProblem } from './schema-check.ts'

import type { StubFailure, StubRequest } from './provider-stub.ts'

type Fields = StubRequest['body']

/** Returns the failure response to a request, or undefined for a valid one. */
export function findAnthropicProblem(request: StubRequest): StubFailure | undefined {
  const { method, path, headers, body } = request
  if (method !== 'POST' || !/^\/v1\/messages(\?|$)/.test(path)) {
    return { status: 404, message: `Not Found: ${method} ${path}` }
  }
  if (!headers['x-api-key'] && headers['authorization'] === undefined) {
    return { status: 401, message: 'x-api-key header is required' }
  }
  const message =
    (headers['anthropic-version'] === undefined
      ? 'anthropic-version: header is required'
      : undefined) ??
    findParameterProblem(body) ??
    findToolProblem(body) ??
    findOutputProblem(body) ??
    findContentProblem(itemsOf(body['messages'])) ??
    findRuleProblem(readSent(body), rulesOf('anthropic')) ??
    findOrderProblem(itemsOf(body['messages'])) ??
    findThinkingProblem(body)
  return message === undefined ? undefined : { status: 400, message }
}

function findParameterProblem(body: Fields): string | undefined {
  if (typeof body['model'] !== 'string') return 'model: Field required'
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required'
  if (body['stream'] !== true) return 'stream: this stub only streams'
  if (itemsOf(body['messages']).length === 0) return 'messages: at least one message is required'
  return undefined
}

function findToolProblem(body: Fields): string | undefined {
  const tools = itemsOf(body['tools'])
  for (const [index, tool] of tools.entries()) {
    const schema = fieldsOf(tool['input_schema'])
    if (typeof tool['name'] !== 'string') return `tools.${index}.custom.name: Field required`
    if (schema['type'] !== 'object')
      return `tools.${index}.custom.input_schema.type: Input should be 'object'`
    if ('anyOf' in schema || 'oneOf' in schema || 'allOf' in schema) {
      return `tools.${index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
    }
  }
  if (tools.length > 0) return undefined
  if (body['tool_choice'] !== undefined)
    return 'tool_choice: may only be specified while providing tools'
  const usesTools = itemsOf(body['messages']).some((message) =>
    listBlocks(message).some(({ type }) => type === 'tool_use' || type === 'tool_result'),
  )
  return usesTools
    ? 'Requests which have `tool_use` or `tool_result` blocks in messages must define tools.'
    : undefined
}

function findOutputProblem(body: Fields): string | undefined {
  const { type, schema } = fieldsOf(fieldsOf(body['output_config'])['format'])
  return type === 'json_schema' ? findClosedProblem(schema) : undefined
}

/** A thinking model must receive its unchanged thoughts before its calls. */
function findThinkingProblem({ thinking, messages }: Fields): string | undefined {
  const all = itemsOf(messages)
  for (const [index, message] of all.entries()) {
    const at = `messages.${index}.content.0`
    const blocks = listBlocks(message)
    const forged = blocks.find(
      (block) =>
        block['type'] === 'thinking' &&
        block['signature'] !== signatureOf(String(block['thinking'])),
    )
    if (forged !== undefined) return `${at}: Invalid \`signature\` in \`thinking\` block`
    const isLast = !all.slice(index + 1).some(({ role }) => role === 'assistant')
    const calls = blocks.some(({ type }) => type === 'tool_use')
    const starts = ['thinking', 'redacted_thinking'].includes(String(blocks[0]?.['type']))
    if (fieldsOf(thinking)['type'] === 'enabled' && isLast && calls && !starts) {
      return `${at}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(blocks[0]?.['type'])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`
    }
  }
  return undefined
}

function findContentProblem(messages: readonly Fields[]): string | undefined {
  for (const [index, message] of messages.entries()) {
    const { role } = message
    if (role !== 'user' && role !== 'assistant') {
      return `messages.${index}.role: Input should be 'user' or 'assistant'`
    }
    const problem = findBlockProblem(listBlocks(message), index)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Each call must be answered in the next message. */
function findOrderProblem(messages: readonly Fields[]): string | undefined {
  let asked: readonly string[] = []
  for (const [index, message] of messages.entries()) {
    const blocks = listBlocks(message)
    const problem = findResultProblem(blocks, asked, index)
    if (problem !== undefined) return problem
    asked = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id))
  }
  return asked.length > 0 ? unanswered(asked, messages.length - 1) : undefined
}

function findBlockProblem(blocks: readonly Fields[], index: number): string | undefined {
  if (blocks.length === 0) return `messages.${index}: all messages must have non-empty content`
  for (const [position, block] of blocks.entries()) {
    const at = `messages.${index}.content.${position}`
    if (block['type'] === 'text' && block['text'] === '') {
      return 'messages: text content blocks must be non-empty'
    }
    if (block['type'] !== 'tool_use') continue
    const { input } = block
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      return `${at}.tool_use.input: Input should be a valid dictionary`
    }
  }
  return undefined
}

function findResultProblem(
  blocks: readonly Fields[],
  asked: readonly string[],
  index: number,
): string | undefined {
  const given = blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) => String(block['tool_use_id']))
  const unexpected = given.find((id) => !asked.includes(id))
  if (unexpected !== undefined) {
    return `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unexpected}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
  }
  const missing = asked.filter((id) => !given.includes(id))
  return missing.length > 0 ? unanswered(missing, index - 1) : undefined
}

function unanswered(ids: readonly string[], index: number): string {
  return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
}

/** Returns the parts of a request that have rules. */
function readSent(body: Fields): CheckedRequest {
  const tools = itemsOf(body['tools']).map((tool, index) => ({
    name: String(tool['name']),
    at: `tools.${index}.custom.name`,
    schema: tool['input_schema'],
    schemaAt: `tools.${index}.custom.input_schema`,
  }))
  const { system } = body
  const text = typeof system === 'string' ? system : joinTexts(itemsOf(system))
  const head: readonly CheckedMessage[] =
    system === undefined ? [] : [{ role: 'system', at: 'system', text, calls: [] }]
  const messages = itemsOf(body['messages']).flatMap(readMessage)
  return { body, tools, messages: [...head, ...messages] }
}

/** Results of tools are content of the user. */
function readMessage(message: Fields, index: number): readonly CheckedMessage[] {
  const at = `messages.${index}`
  const blocks = listBlocks(message)
  const results = blocks.filter(({ type }) => type === 'tool_result')
  if (results.length > 0 && results.length === blocks.length) {
    return results.map(() => ({ role: 'tool', at, text: undefined, calls: [] }))
  }
  const calls = blocks.flatMap(({ type, id, name }, position) =>
    type === 'tool_use'
      ? [
          {
            id: String(id),
            idAt: `${at}.content.${position}.tool_use.id`,
            name: String(name),
            nameAt: `${at}.content.${position}.tool_use.name`,
          },
        ]
      : [],
  )
  const role = message['role'] === 'assistant' ? 'assistant' : 'user'
  return [{ role, at, text: joinTexts(blocks), calls }]
}

function joinTexts(blocks: readonly Fields[]): string {
  return blocks
    .map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : ''))
    .join('')
}

/** Returns the content of a message as blocks. */
function listBlocks({ content }: Fields): readonly Fields[] {
  if (typeof content !== 'string') return itemsOf(content)
  return content === '' ? [] : [{ type: 'text', text: content }]
}
