/**
 * Pure: reads requests for chat completions.
 *
 * GW-K1 A field or value that would change the answer and cannot be applied is refused, with every problem. Fields that
 *    cannot change the answer are accepted, and so are parameters of sampling for the models that ignore them.
 * GW-K2 The newest user message is asked, and the other messages are the conversation before it. System and developer
 *    messages are the instructions. Images and files are refused in the newest user message and named in earlier ones,
 *    which a client cannot take back.
 */
import { decode } from '@tutti/protocol'
import type { ClientToolBody, HistoryMessage, Problem } from '@tutti/protocol/internal'

import { badRequest } from '../../http/api-error.ts'
import { describeLeftOutPart } from '../../service/left-out-part.ts'
import {
  isSameCall,
  isSameResult,
  type RecordedDecision,
  type SentEntry,
} from '../../service/continued-run.ts'
import { findNeutralProblem } from '../neutral-value.ts'
import {
  CompletionBody,
  EFFECTIVE_FIELDS,
  NEUTRAL_FIELDS,
  NEUTRAL_VALUES,
  type CompletionMessage,
} from './wire.ts'

import type { AskedModel } from '../../service/find-model.ts'
import type { ReviewDecisionBody } from '@tutti/protocol'

/**
 * Reads the body of a request.
 *
 * @throws {TuttiError} BAD_REQUEST, with every problem.
 */
export function readCompletionBody(body: Readonly<Record<string, unknown>>): CompletionBody {
  const refused = findRefusedFields(body)
  const decoded = decode(CompletionBody, body)
  if (!decoded.ok) throw badRequest('request body', [...decoded.problems, ...refused])
  const { messages } = decoded.value
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const found = messages.flatMap((message, index) => findMessageProblems(message, { index, asked }))
  const problems = [...refused, ...found]
  if (problems.length > 0) throw badRequest('request body', problems)
  return decoded.value
}

function findRefusedFields(body: Readonly<Record<string, unknown>>): readonly Problem[] {
  const known = new Set([...EFFECTIVE_FIELDS, ...NEUTRAL_FIELDS])
  return Object.entries(body).flatMap(([name, value]) => {
    if (known.has(name)) return []
    const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const neutral = Object.hasOwn(NEUTRAL_VALUES, name) ? (NEUTRAL_VALUES[name] ?? []) : []
    return findNeutralProblem(path, value, neutral)
  })
}

function findMessageProblems(
  { role, content, tool_call_id: callId }: CompletionMessage,
  { index, asked }: { readonly index: number; readonly asked: number },
): readonly Problem[] {
  const path = `/messages/${index}`
  const problems: Problem[] = []
  if (role === 'tool' && callId === undefined) {
    problems.push({ path: `${path}/tool_call_id`, message: 'is required in a message of a tool' })
  }
  if ((content === null || content === undefined) && role !== 'assistant') {
    problems.push({ path: `${path}/content`, message: `is required in a message of the ${role}` })
  }
  const isEarlier = role === 'user' && index !== asked
  if (isEarlier || !Array.isArray(content)) return problems
  for (const [index, { type }] of content.entries()) {
    if (TEXTS.includes(type)) continue
    const message = `must be "text" or "refusal", got ${JSON.stringify(type)}`
    problems.push({ path: `${path}/content/${index}/type`, message })
  }
  return problems
}

/** Types of parts that are texts. */
const TEXTS: readonly string[] = ['text', 'refusal']

/** Returns the text of a message. */
function textOf({ content, refusal }: CompletionMessage): string {
  if (typeof content === 'string') return content
  const parts = (content ?? []).map(({ type, text, refusal: refused }) =>
    TEXTS.includes(type) ? (text ?? refused ?? '') : describeLeftOutPart(type),
  )
  return parts.length === 0 ? (refusal ?? '') : parts.join('\n')
}

/**
 * Reads a conversation as a question to a model.
 *
 * @throws {TuttiError} BAD_REQUEST when there is no message of the user.
 */
export function readQuestion(body: CompletionBody): AskedModel {
  const { messages, tools, tool_choice: choice, response_format: format } = body
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const question = messages[asked]
  const last = messages.at(-1)?.role
  if (question === undefined || last === 'assistant') {
    const message = 'must have a message of the user, and end with one or with results of tools'
    throw badRequest('request body', [{ path: '/messages', message }])
  }
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer')
  return {
    text: textOf(question),
    history: messages.flatMap((message, index) => (index === asked ? [] : toHistory(message))),
    instructions: system.map(textOf).join('\n\n'),
    clientTools: choice === 'none' ? [] : (tools ?? []).map(toClientTool),
    outputSchema: toOutputSchema(format),
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
  }
}

function toHistory(message: CompletionMessage): readonly HistoryMessage[] {
  const content = textOf(message)
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content }]
    case 'tool':
      return [{ role: 'tool', toolCallId: message.tool_call_id ?? '', content }]
    case 'assistant': {
      const toolCalls = (message.tool_calls ?? []).map(({ id, function: called }) => ({
        id,
        name: called.name,
        arguments: called.arguments,
      }))
      return [{ role: 'assistant', content, ...(toolCalls.length === 0 ? {} : { toolCalls }) }]
    }
    default:
      return []
  }
}

function toClientTool({
  function: { name, description, parameters },
}: NonNullable<CompletionBody['tools']>[number]): ClientToolBody {
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: { ...(parameters ?? { type: 'object', properties: {} }) },
  }
}

function toOutputSchema(
  format: CompletionBody['response_format'],
): Readonly<Record<string, unknown>> | undefined {
  switch (format?.type) {
    case 'json_object':
      return { type: 'object' }
    case 'json_schema':
      return { ...format.json_schema.schema }
    default:
      return undefined
  }
}

/** Prefix of the ids of tool calls, before the id of the review that waits for the result. */
const CALL_PREFIX = 'call_'

/** Returns the id of the call whose result a review waits for. */
export function toCompletionCallId(reviewId: string): string {
  return `${CALL_PREFIX}${reviewId}`
}

/** A result of a tool. */
export interface ToolAnswer {
  readonly reviewId: string
  readonly decision: ReviewDecisionBody
}

/** Returns the results of tools with which a conversation ends. */
export function readToolAnswers(messages: readonly CompletionMessage[]): readonly ToolAnswer[] {
  const before = messages.findLastIndex(({ role }) => role !== 'tool')
  return messages.slice(before + 1).flatMap((message) => {
    const reviewId = toCallReview(message.tool_call_id)
    if (reviewId === undefined) return []
    return [{ reviewId, decision: { decision: 'EDIT', revisedOutput: textOf(message) } }]
  })
}

/** Returns the review of a call; undefined for a call of another server. */
function toCallReview(id = ''): string | undefined {
  return id.startsWith(CALL_PREFIX) ? id.slice(CALL_PREFIX.length) : undefined
}

/** Returns the entries of a message, to compare it with a run. */
export function toEntries(message: CompletionMessage, index: number): readonly SentEntry[] {
  const { role, tool_calls: calls } = message
  if (role === 'tool') {
    const reviewId = toCallReview(message.tool_call_id) ?? ''
    const text = textOf(message)
    const isSame = (decision: RecordedDecision) => isSameResult(decision, text)
    return [{ index, kind: 'result', reviewId, isOfTool: true, isSame }]
  }
  if (role !== 'assistant') return [{ index, kind: 'message' }]
  if (calls === undefined || calls === null || calls.length === 0) return [{ index, kind: 'text' }]
  return calls.map(({ id, function: called }) => ({
    index,
    kind: 'call',
    reviewId: toCallReview(id) ?? '',
    isSame: (review) => isSameCall(review, called),
  }))
}
