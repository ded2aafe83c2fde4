/**
 * Pure: reads decisions of reviews from messages.
 *
 * Words for yes, no and exit are decisions only if they are the whole text: "no" rejects and "no: why" adds the reason,
 * while "no changes in the second part" is a replacement text.
 */
import { decode, ReviewDecisionBody, type RunEventOf } from '@tutti/protocol'

import { badRequest } from '../http/api-error.ts'

/** Fields of a review that determine how a message is read. */
export type ReviewAsked = Pick<
  RunEventOf<'review_requested'>,
  'timing' | 'taskDescription' | 'toolInput' | 'clientTool'
>

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

/**
 * Whether a tool asks a question instead of requesting approval: a question has no input to edit. Any text then is the
 * answer.
 */
export function asksQuestion({
  timing,
  toolInput,
}: Pick<ReviewAsked, 'timing' | 'toolInput'>): boolean {
  return timing === 'DURING_EXECUTION' && toolInput === null
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
  if (object !== undefined) return decodeDecision(object, path)
  if (review.clientTool === true && (answer !== undefined || text !== '')) {
    return edit(
      answer === undefined || typeof answer === 'string'
        ? (answer ?? text)
        : JSON.stringify(answer),
    )
  }
  if (answer !== undefined && asksQuestion(review)) return edit(JSON.stringify(answer))
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

function decodeDecision(object: object, path: string): ReviewDecisionBody {
  const decoded = decode(ReviewDecisionBody, object)
  if (decoded.ok) return decoded.value
  const problems = decoded.problems.map((one) => ({ ...one, path: `${path}${one.path}` }))
  throw badRequest('decision', problems)
}

function edit(revisedOutput: string): ReviewDecisionBody {
  return { decision: 'EDIT', revisedOutput }
}
