/**
 * Pure: reads the input of a request as a conversation, or as outputs for a run that waits.
 *
 * GW-N8 Outputs at the end of the input answer the calls and approval requests of a run that waits. They must be
 *    complete, and each for an open one. Everything before them repeats what the run knows.
 * GW-N9 Otherwise the last item is the message of the user, and the items before it are the conversation. Reasoning items,
 *    which clients send back, are not part of it.
 */
import { badRequest } from '../../http/api-error.ts'
import { toReviewId } from './ids.ts'

import type { HistoryMessage, HistoryToolCall, Problem } from '@tutti/protocol'
import type { Content, CreateResponseBody, InputItem } from './wire.ts'

/** Output of the client for one review. */
export interface ClientOutput {
  /** Id of the call or of the approval request. */
  readonly id: string
  readonly reviewId: string
  /** JSON Pointer to the item. */
  readonly path: string
  readonly answer:
    | { readonly kind: 'output'; readonly text: string }
    | { readonly kind: 'approval'; readonly approve: boolean; readonly reason: string }
}

/** A conversation. */
export interface ReadInput {
  readonly text: string
  readonly history: readonly HistoryMessage[]
  readonly instructions: readonly string[]
}

/** Returns the items of an input. */
export function toItems(input: CreateResponseBody['input']): readonly InputItem[] {
  if (input === undefined) return []
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input
}

/** Returns the outputs at the end of an input; empty when it ends with another item. */
export function readOutputs(items: readonly InputItem[]): readonly ClientOutput[] {
  const outputs: ClientOutput[] = []
  for (const [place, item] of [...items.entries()].toReversed()) {
    const output = toOutput(item, `/input/${place}`)
    if (output === undefined) break
    outputs.unshift(output)
  }
  return outputs
}

/** Returns the places of items that cannot accompany outputs: messages of the user. */
export function findMessagesOfUser(items: readonly InputItem[]): readonly string[] {
  return items.flatMap(({ role }, place) => (role === 'user' ? [`/input/${place}`] : []))
}

function toOutput(item: InputItem, path: string): ClientOutput | undefined {
  if (item.type === 'function_call_output') {
    const { call_id: id = '', output = '' } = item
    const answer = { kind: 'output', text: joinContent(output) } as const
    return { id, reviewId: toReviewId(id) ?? '', path, answer }
  }
  if (item.type !== 'mcp_approval_response') return undefined
  const { approval_request_id: id = '', approve = false, reason } = item
  const answer = { kind: 'approval', approve, reason: reason ?? '' } as const
  return { id, reviewId: toReviewId(id) ?? '', path, answer }
}

/**
 * Reads an input as a conversation.
 *
 * @throws {TuttiError} BAD_REQUEST, naming every item that is not supported.
 */
export function readInput(items: readonly InputItem[]): ReadInput {
  const problems = items.flatMap((item, place) => findItemProblems(item, `/input/${place}`))
  const last = items.at(-1)
  if (last?.role !== 'user') {
    const message = 'must be a text, or end with a message of the user or with outputs'
    problems.push({ path: '/input', message })
  }
  if (problems.length > 0) throw badRequest('request body', problems)
  const system = items.filter(({ role }) => role === 'system' || role === 'developer')
  return {
    text: joinContent(last?.content ?? ''),
    history: toItemHistory(items.slice(0, -1)),
    instructions: system.map(({ content = '' }) => joinContent(content)),
  }
}

const PARTS: readonly string[] = ['input_text', 'output_text', 'refusal', 'text']

function findItemProblems(item: InputItem, path: string): readonly Problem[] {
  const { type = 'message', role, content, output, call_id: id, name } = item
  switch (type) {
    case 'message':
      return [
        ...(role === undefined ? [{ path: `${path}/role`, message: 'is required' }] : []),
        ...(content === undefined ? [{ path: `${path}/content`, message: 'is required' }] : []),
        ...findPartProblems(content, `${path}/content`),
      ]
    case 'function_call':
      return [
        ...(id === undefined ? [{ path: `${path}/call_id`, message: 'is required' }] : []),
        ...(name === undefined ? [{ path: `${path}/name`, message: 'is required' }] : []),
      ]
    case 'function_call_output':
      return findPartProblems(output, `${path}/output`)
    // The server knows the reasoning of its models.
    case 'reasoning':
    case 'mcp_approval_request':
    case 'mcp_approval_response':
      return []
    default:
      return [{ path: `${path}/type`, message: `is not supported, got ${JSON.stringify(type)}` }]
  }
}

function findPartProblems(content: Content | undefined, path: string): readonly Problem[] {
  if (content === undefined || typeof content === 'string') return []
  return content.flatMap(({ type }, place) =>
    PARTS.includes(type)
      ? []
      : [
          {
            path: `${path}/${place}/type`,
            message: `is not supported, got ${JSON.stringify(type)}`,
          },
        ],
  )
}

/** Returns a text, or the texts of parts. */
export function joinContent(content: Content): string {
  if (typeof content === 'string') return content
  return content.map(({ text, refusal }) => text ?? refusal ?? '').join('')
}

/**
 * Returns items as messages. A call is part of the assistant's message before it; calls without an output, and
 * approvals, only concern an earlier run.
 */
export function toItemHistory(items: readonly InputItem[]): readonly HistoryMessage[] {
  const answered = new Set(
    items.flatMap(({ type, call_id: id }) =>
      type === 'function_call_output' && id !== undefined ? [id] : [],
    ),
  )
  const history: HistoryMessage[] = []
  let calls: HistoryToolCall[] = []
  const results: HistoryMessage[] = []
  const flush = (): void => {
    if (calls.length > 0) {
      history.push({ role: 'assistant', content: '', toolCalls: calls }, ...results)
    }
    calls = []
    results.length = 0
  }
  for (const item of items) {
    const { type = 'message', role, content = '', call_id: id = '' } = item
    if (type === 'function_call' && answered.has(id)) {
      if (results.length > 0) flush()
      calls.push({ id, name: item.name ?? '', arguments: item.arguments ?? '{}' })
    } else if (type === 'function_call_output' && calls.some((call) => call.id === id)) {
      results.push({ role: 'tool', toolCallId: id, content: joinContent(item.output ?? '') })
    } else if (type === 'message' && (role === 'user' || role === 'assistant')) {
      flush()
      history.push({ role, content: joinContent(content) })
    }
  }
  flush()
  return history
}
