/**
 * Pure: from what somebody says to a review that is open, to its decision.
 *
 * Words for yes and no count only when nothing else is said: "no" refuses, "no changes in the second part"
 * is the new text. A question of a tool is no request for a permission, so every word is the answer to it.
 */
import { decode, ReviewDecisionBody } from '@tutti/protocol'

import { badRequest } from '../http/api-error.ts'
import { jsonOf, type MessageText } from './message-text.ts'

import type { RunEventOf } from '@tutti/protocol'

/** What the decision depends on. */
export type GateAsked = Pick<
  RunEventOf<'review_requested'>,
  'timing' | 'taskDescription' | 'toolInput'
>

const YES = /^(?:approved?|continue|go on|yes|y|ok(?:ay)?|accept(?:ed)?|lgtm)[.!]?$/i
const EXIT = /^(?:exit|exit[ _]early|stop)[.!]?$/i
const NO = /^(?:reject(?:ed)?|deny|denied|no|n)(?:[.!]|:\s*(?<feedback>.*))?$/is

/**
 * The decision: that of an object with the field `decision`, as `POST /api/reviews/{reviewId}` takes it, else
 * what the text says.
 *
 * @throws {TuttiError} BAD_REQUEST naming what does not fit in the object, or that nothing was said.
 */
export function decisionOfMessage(message: MessageText, gate: GateAsked): ReviewDecisionBody {
  const { object, text } = message
  if (object !== undefined && Object.hasOwn(object, 'decision')) return decisionOfObject(object)
  const said = text.trim()
  if (said === '') {
    throw badRequest('Decision', [{ path: '/params/message', message: 'must say something' }])
  }
  return isQuestion(gate) ? edit(JSON.stringify(text)) : (wordOf(said) ?? edited(message, gate))
}

function decisionOfObject(object: Readonly<Record<string, unknown>>): ReviewDecisionBody {
  const decoded = decode(ReviewDecisionBody, object)
  if (decoded.ok) return decoded.value
  throw badRequest('Decision', decoded.problems)
}

/** Whether a tool asks for words, and not whether it may be called: what it asks is all that it was given. */
function isQuestion({ timing, taskDescription: asked, toolInput }: GateAsked): boolean {
  if (timing !== 'DURING_EXECUTION') return false
  if (toolInput === null || toolInput === asked) return true
  return typeof toolInput === 'object' && 'input' in toolInput && toolInput.input === asked
}

function wordOf(said: string): ReviewDecisionBody | undefined {
  if (YES.test(said)) return { decision: 'CONTINUE' }
  if (EXIT.test(said)) return { decision: 'EXIT_EARLY' }
  const no = NO.exec(said)
  if (no === null) return undefined
  const feedback = no.groups?.['feedback']
  return { decision: 'REJECT', ...(feedback === undefined ? {} : { feedback }) }
}

/** The text in place of the output, or the input in place of that of a tool, which is JSON. */
function edited({ raw, text }: MessageText, { timing }: GateAsked): ReviewDecisionBody {
  if (timing !== 'DURING_EXECUTION') return edit(text)
  return edit(jsonOf(raw) === undefined ? JSON.stringify(text) : raw)
}

function edit(revisedOutput: string): ReviewDecisionBody {
  return { decision: 'EDIT', revisedOutput }
}
