/**
 * Pure: reads decisions of reviews from messages.
 *
 * Words for yes, no and exit are decisions only if they are the whole text: "no" rejects and "no: why" adds the reason,
 * while "no changes in the second part" is a replacement text.
 */
import { decode, ReviewDecisionBody, type RunEventOf } from '@tutti/protocol'
import { isJsonObject } from '@tutti/protocol/internal'

import { badRequest } from '../http/api-error.ts'

/** Fields of a review that determine how a message is read. */
export type ReviewAsked = Pick<RunEventOf<'review_requested'>, 'kind' | 'timing' | 'answerSchema'>

const YES = /^(?:approved?|continue|go on|yes|y|ok(?:ay)?|accept(?:ed)?|lgtm)[.!]?$/i
const EXIT = /^(?:exit|exit[ _]early|stop)[.!]?$/i
const NO = /^(?:reject(?:ed)?|deny|denied|no|n)(?:[.!]|\s*[:,]\s*(?<why>.*))?$/is

/** Parses a text as a decision; undefined for any other text. */
export function parseDecision(text: string): ReviewDecisionBody | undefined {
  const word = text.trim()
  if (YES.test(word)) return { decision: 'CONTINUE' }
  if (EXIT.test(word)) return { decision: 'EXIT_EARLY' }
  const no = NO.exec(word)
  if (no === null) return undefined
  const feedback = no.groups?.['why']?.trim() ?? ''
  return { decision: 'REJECT', ...(feedback === '' ? {} : { feedback }) }
}

/** Whether a review asks a question. Any text is then the answer. */
export function asksQuestion({ kind }: Pick<ReviewAsked, 'kind'>): boolean {
  return kind === 'QUESTION'
}

/** A message that may decide a review, as a protocol reads it. */
export interface ReviewMessage {
  /** An object with the field `decision`, as the route for decisions takes it. */
  readonly object?: Readonly<Record<string, unknown>> | undefined
  /** Answer to a question of a tool; absent when the message has none. */
  readonly answer?: unknown
  readonly text: string
  /** New input for a tool as JSON; absent when the text is not JSON. */
  readonly toolInput?: string | undefined
  /** JSON Pointer to the message in its request. */
  readonly path: string
}

/**
 * Reads a message as the decision of a review: an object is the decision itself, any text answers a question of a tool,
 * words such as "approve" decide, and other text replaces the reviewed output or input.
 *
 * @throws {TuttiError} BAD_REQUEST if the message does not decide this review.
 */
export function readMessageDecision(
  { object, answer, text, toolInput, path }: ReviewMessage,
  review: ReviewAsked,
): ReviewDecisionBody {
  if (object !== undefined && !isAnswerWithDecision(review)) return decodeDecision(object, path)
  if (review.kind === 'CLIENT_TOOL' && (answer !== undefined || text !== '')) {
    return edit(toAnswerText(answer ?? text))
  }
  if (answer !== undefined && asksQuestion(review)) return edit(toAnswerText(answer))
  if (text.trim() === '') {
    throw badRequest('decision', [{ path, message: 'must not be blank' }])
  }
  const word = parseDecision(text)
  if (word !== undefined) return word
  if (review.timing !== 'DURING_EXECUTION') return edit(text)
  if (toolInput !== undefined) return edit(toolInput)
  const message = 'must be "approve", "reject: …", "exit", or the input of the tool as JSON'
  throw badRequest('decision', [{ path, message }])
}

/** Whether an object with the field `decision` answers the question, because the schema of the answer has that field. */
function isAnswerWithDecision({ kind, answerSchema }: ReviewAsked): boolean {
  const properties = isJsonObject(answerSchema) ? answerSchema['properties'] : undefined
  return kind === 'QUESTION' && isJsonObject(properties) && Object.hasOwn(properties, 'decision')
}

function decodeDecision(object: object, path: string): ReviewDecisionBody {
  const decoded = decode(ReviewDecisionBody, object)
  if (decoded.ok) return decoded.value
  const problems = decoded.problems.map((one) => ({ ...one, path: `${path}${one.path}` }))
  throw badRequest('decision', problems)
}

/** Returns an answer as the text of a decision: a text as it is, and any other value as JSON. */
export function toAnswerText(answer: unknown): string {
  return typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? 'null')
}

function edit(revisedOutput: string): ReviewDecisionBody {
  return { decision: 'EDIT', revisedOutput }
}
