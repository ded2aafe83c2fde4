/**
 * Pure: reads the input of a request as a conversation, or as outputs for a run that waits.
 *
 * GW-N8 Outputs answer the calls and approval requests of a run that waits. They must be complete, and each for an open
 *    one. They continue the run if the rest of the request repeats it (GW-G5); what a request with
 *    `previous_response_id`, or with outputs alone, omits is unchanged. A decision of a review never begins a run.
 * GW-N9 Otherwise the newest message of the user is asked, and the other items are the conversation, with the calls that
 *    have outputs. Reasoning items, which clients send back, are not part of it.
 */
import { badRequest } from '../../http/api-error.ts'
import {
  isSameCall,
  isSameResult,
  type RecordedDecision,
  type SentEntry,
} from '../../service/continued-run.ts'
import { toReviewId } from './ids.ts'

import type {
  HistoryMessage,
  HistoryToolCall,
  Problem,
  WaitingReview,
} from '@tutti/protocol/internal'
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

/** The conversation before a request. */
export interface EarlierItems {
  readonly history: readonly HistoryMessage[]
  /** Message of the user after `history`. @default none */
  readonly question?: string
  /** Items after the question. */
  readonly items: readonly InputItem[]
}

/** A request without an earlier conversation. */
export const NO_EARLIER: EarlierItems = { history: [], items: [] }

/** Returns the items of an input. */
export function toItems(input: CreateResponseBody['input']): readonly InputItem[] {
  if (input === undefined) return []
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input
}

/** Returns the outputs of an input. */
export function readOutputs(items: readonly InputItem[]): readonly ClientOutput[] {
  return items.flatMap((item, index) => toOutput(item, `/input/${index}`) ?? [])
}

/** Returns the paths of items that no run has made: messages of the user and instructions. */
export function findNewMessages(items: readonly InputItem[]): readonly string[] {
  return items.flatMap(({ role = 'assistant' }, index) =>
    role === 'assistant' ? [] : [`/input/${index}`],
  )
}

/** Returns the entries of an item, to compare it with a run. */
export function toEntry(item: InputItem, index: number): SentEntry {
  const { type = 'message', role, call_id: callId = '', name = '', arguments: text = '{}' } = item
  const output = toOutput(item, '')
  if (output !== undefined) {
    const { reviewId, answer } = output
    const isSame = (decision: RecordedDecision) => isSameAnswer(answer, decision)
    return { index, kind: 'result', reviewId, isOfTool: answer.kind === 'output', isSame }
  }
  if (type === 'function_call') {
    const isSame = (review: WaitingReview) => isSameCall(review, { name, arguments: text })
    return { index, kind: 'call', reviewId: toReviewId(callId) ?? '', isSame }
  }
  if (type === 'mcp_approval_request') {
    const isSame = ({ kind }: WaitingReview) => kind !== 'CLIENT_TOOL'
    return { index, kind: 'call', reviewId: toReviewId(item.id ?? '') ?? '', isSame }
  }
  const isText = type === 'reasoning' || (type === 'message' && role === 'assistant')
  return { index, kind: isText ? 'text' : 'message' }
}

/** Whether the log has an output as the decision of its review. */
export function isSameAnswer(
  answer: ClientOutput['answer'],
  decision: RecordedDecision | undefined,
): boolean {
  if (decision === undefined) return false
  if (answer.kind === 'output') return isSameResult(decision, answer.text)
  return (decision.decision !== 'REJECT') === answer.approve
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
export function readInput(items: readonly InputItem[], earlier: EarlierItems): ReadInput {
  const all = [...earlier.items, ...items]
  const problems = [
    ...items.flatMap((item, index) => findItemProblems(item, `/input/${index}`)),
    ...findOrphans(all, earlier.items.length),
  ]
  const last = items.at(-1)
  const asked = items.findLastIndex(({ role }) => role === 'user')
  const text = asked < 0 ? earlier.question : joinContent(items[asked]?.content ?? '')
  const isEnd = last?.role === 'user' || last?.type === 'function_call_output'
  if (!isEnd || text === undefined) {
    const message =
      last?.type === 'mcp_approval_response'
        ? 'must not end with a decision, unless the rest of the request repeats the run that waits for it'
        : 'must be a text, or end with a message of the user or with outputs'
    problems.push({ path: '/input', message })
  }
  if (problems.length > 0 || text === undefined) throw badRequest('request body', problems)
  const system = items.filter(({ role }) => role === 'system' || role === 'developer')
  const instructions = system.map(({ content = '' }) => joinContent(content))
  if (asked < 0) {
    return { text, history: [...earlier.history, ...toItemHistory(all)], instructions }
  }
  const { history, question } = earlier
  const before = question === undefined ? [] : [{ role: 'user', content: question } as const]
  const rest = toItemHistory(all.toSpliced(earlier.items.length + asked, 1))
  return { text, history: [...history, ...before, ...rest], instructions }
}

/** Returns the problems of outputs without a call before them. */
function findOrphans(items: readonly InputItem[], from: number): readonly Problem[] {
  const calls = new Set<string | undefined>()
  return items.flatMap(({ type, call_id: id }, index) => {
    if (type === 'function_call') calls.add(id)
    if (type !== 'function_call_output' || index < from || calls.has(id)) return []
    const message = `is for no call of the conversation, got "${id}"`
    return [{ path: `/input/${index - from}`, message }]
  })
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
  return content.flatMap(({ type }, index) =>
    PARTS.includes(type)
      ? []
      : [
          {
            path: `${path}/${index}/type`,
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
