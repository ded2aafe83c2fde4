/**
 * Pure: reads the messages of a chat as a conversation, or as answers to its waiting run.
 *
 * GW-C9 The newest user message is asked, and the others are the conversation before it: the texts of users, the last
 *    text of each answer, and calls that the client has executed with their results. Other parts of answers only present
 *    a run. Attachments are refused in the newest user message and named in earlier ones, which a client cannot take back.
 * GW-C10 A request that ends with an assistant message answers its run: results of the client's tools, and responses to
 *    approvals. Results continue the run if the rest of the request repeats the one that began it (GW-G5). If that run
 *    waits no longer because it has ended, the messages are a conversation, and a new run begins.
 */
import { isCallOf } from '@tutti/protocol/internal'

import { badRequest } from '../http/api-error.ts'
import { toAnswerText } from '../service/decision-in-text.ts'
import { describeLeftOutPart } from '../service/left-out-part.ts'
import { isForClient } from './parts.ts'

import type { ChatBody, ChatMessage, ChatPart } from './wire.ts'
import type { ReviewDecisionBody } from '@tutti/protocol'
import type {
  ClientToolBody,
  HistoryMessage,
  Problem,
  WaitingReview,
} from '@tutti/protocol/internal'

/** A conversation before a run, and the message that the run answers. */
export interface ReadConversation {
  readonly text: string
  readonly history: readonly HistoryMessage[]
  readonly instructions: string | undefined
}

/**
 * Reads the conversation of a request.
 *
 * @throws {TuttiError} BAD_REQUEST, naming every part that is not supported.
 */
export function readChatConversation({
  messages,
  system: more,
  instructions,
}: Pick<ChatBody, 'messages' | 'system' | 'instructions'>): ReadConversation {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const problems = messages.flatMap((one, index) =>
    findProblems(one, { path: `/messages/${index}`, isAsked: index === asked }),
  )
  const message = messages[asked]
  if (message === undefined) {
    problems.push({ path: '/messages', message: 'must have a message of the user' })
  }
  if (problems.length > 0 || message === undefined) throw badRequest('request body', problems)
  const system = messages.filter(({ role }) => role === 'system').map(joinTexts)
  const texts = [...system, more, instructions].filter((text) => text !== undefined)
  return {
    text: joinTexts(message),
    history: messages.flatMap((one, index) => (index === asked ? [] : toHistory(one))),
    instructions: texts.length === 0 ? undefined : texts.join('\n\n'),
  }
}

function findProblems(
  { role, parts }: ChatMessage,
  { path, isAsked }: { readonly path: string; readonly isAsked: boolean },
): readonly Problem[] {
  if (role === 'assistant') return []
  return parts.flatMap(({ type, text }, index) => {
    const at = `${path}/parts/${index}`
    if (type !== 'text') {
      if (role === 'user' && !isAsked) return []
      const message = `must be "text" in a message of the ${role}, got ${JSON.stringify(type)}`
      return [{ path: `${at}/type`, message }]
    }
    return text === undefined ? [{ path: `${at}/text`, message: 'is required' }] : []
  })
}

function joinTexts({ parts }: ChatMessage): string {
  return parts.flatMap(({ type, text }) => (type === 'text' ? (text ?? []) : [])).join('\n')
}

function joinEarlier({ parts }: ChatMessage): string {
  return parts
    .map(({ type, text = '' }) => (type === 'text' ? text : describeLeftOutPart(type)))
    .join('\n')
}

/** Returns the tools of the client as a list. */
export function toChatTools(tools: ChatBody['tools'] = []): readonly ClientToolBody[] {
  if (Array.isArray(tools)) return tools
  return Object.entries(tools).map(([name, { description = '', parameters }]) => ({
    name,
    ...(description.trim() === '' ? {} : { description }),
    inputSchema: parameters,
  }))
}

function toHistory(message: ChatMessage): readonly HistoryMessage[] {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [{ role: 'user', content: joinEarlier(message) }]
    case 'assistant':
      return toAnswer(message)
  }
}

function toAnswer({ parts }: ChatMessage): readonly HistoryMessage[] {
  const calls = parts.flatMap((part): readonly ClientCall[] => {
    const call = toClientCall(part)
    return call === undefined ? [] : [call]
  })
  const content = parts.findLast(({ type, text }) => type === 'text' && text !== '')?.text ?? ''
  const answer = content === '' ? [] : [{ role: 'assistant', content } as const]
  if (calls.length === 0) return answer
  const toolCalls = calls.map(({ id, name, input }) => ({
    id,
    name,
    arguments: JSON.stringify(input ?? {}),
  }))
  return [
    { role: 'assistant', content: '', toolCalls },
    ...calls.map(({ id, result }) => ({ role: 'tool', toolCallId: id, content: result }) as const),
    ...answer,
  ]
}

/** A call that the client has executed. */
interface ClientCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
  readonly result: string
}

function toClientCall(part: ChatPart): ClientCall | undefined {
  const { toolCallId: id = '', input, output, errorText = '', state, providerExecuted } = part
  if (id === '' || providerExecuted === true) return undefined
  const name = toToolName(part)
  if (state === 'output-error') return { id, name, input, result: `Error: ${errorText}` }
  if (state !== 'output-available') return undefined
  const result = typeof output === 'string' ? output : JSON.stringify(output ?? null)
  return { id, name, input, result }
}

function toToolName({ type, toolName }: ChatPart): string {
  return toolName ?? type.replace(/^tool-/, '')
}

/** An answer to a review, as the client gave it. */
export interface ChatAnswer {
  readonly review: WaitingReview
  readonly decision: ReviewDecisionBody
}

/**
 * Returns the answers of a message to these open reviews.
 *
 * @throws {TuttiError} BAD_REQUEST if an approval has a reason.
 */
export function readAnswers(
  { parts }: Pick<ChatMessage, 'parts'>,
  reviews: readonly WaitingReview[],
): readonly ChatAnswer[] {
  return reviews.flatMap((review) => {
    const decision = parts.map((part) => toDecision(part, review)).findLast((one) => one !== null)
    return decision === undefined || decision === null ? [] : [{ review, decision }]
  })
}

/** Whether a message answers anything. */
export function hasAnswers({ parts }: Pick<ChatMessage, 'parts'>): boolean {
  return parts.some(
    (part) => part.state === 'approval-responded' || toClientCall(part) !== undefined,
  )
}

function toDecision(part: ChatPart, review: WaitingReview): ReviewDecisionBody | null {
  const { approval, state, toolCallId = '', output, errorText } = part
  if (!isForClient(review)) {
    if (approval?.id !== review.reviewId || approval.approved === undefined) return null
    if (approval.approved) {
      if ((approval.reason ?? '').trim() === '') return { decision: 'CONTINUE' }
      const message = 'must be absent from an approval, which does not use it'
      throw badRequest('request body', [{ path: '/messages/approval/reason', message }])
    }
    return { decision: 'REJECT', ...toFeedback(approval.reason) }
  }
  if (toolCallId !== review.reviewId && !isCallOf(toolCallId, review)) return null
  if (state === 'output-error') return { decision: 'REJECT', ...toFeedback(errorText) }
  if (state !== 'output-available') return null
  return { decision: 'EDIT', revisedOutput: toAnswerText(output ?? null) }
}

function toFeedback(text: string | undefined): { readonly feedback?: string } {
  return text === undefined || text.trim() === '' ? {} : { feedback: text }
}
