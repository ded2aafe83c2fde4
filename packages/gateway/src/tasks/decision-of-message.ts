/** Pure: from what somebody says to a review that is open, to its decision. */
import { decode, ReviewDecisionBody } from '@tutti/protocol'

import { badRequest } from '../http/api-error.ts'
import { decisionInWords, isQuestion, type GateAsked } from '../peer/decision-in-words.ts'
import { jsonOf, type MessageText } from './message-text.ts'

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
  return isQuestion(gate)
    ? edit(JSON.stringify(text))
    : (decisionInWords(said) ?? edited(message, gate))
}

function decisionOfObject(object: Readonly<Record<string, unknown>>): ReviewDecisionBody {
  const decoded = decode(ReviewDecisionBody, object)
  if (decoded.ok) return decoded.value
  throw badRequest('Decision', decoded.problems)
}

/** The text in place of the output, or the input in place of that of a tool, which is JSON. */
function edited({ raw, text }: MessageText, { timing }: GateAsked): ReviewDecisionBody {
  if (timing !== 'DURING_EXECUTION') return edit(text)
  return edit(jsonOf(raw) === undefined ? JSON.stringify(text) : raw)
}

function edit(revisedOutput: string): ReviewDecisionBody {
  return { decision: 'EDIT', revisedOutput }
}
