/**
 * Pure: from what somebody says to an open gate to a decision.
 *
 * D1 Data with a `decision` is the decision, as over REST.
 * D2 A question of a tool is answered by any words, or by data: they are the answer.
 * D3 Else "approve" and its like let it go on, "reject: …" sends it back with the words, "exit" ends the run.
 * D4 Other words take the place of what is reviewed; of the input of a tool only when they are JSON, since a
 *    remark must not become what a tool is called with.
 */
import { decode, ReviewDecisionBody } from '@tutti/protocol'

import { decisionInWords, isQuestion } from '../peer/decision-in-words.ts'
import { invalidParams } from './a2a-error.ts'
import { isObject } from './modern-params.ts'

import type { Said } from './said.ts'
import type { Gate } from './task-view.ts'

/**
 * The decision.
 *
 * @throws {A2aError} INVALID_PARAMS saying what would be one.
 */
export function decisionOf(gate: Gate, said: Said): ReviewDecisionBody {
  const given = said.data.find((data) => isObject(data) && Object.hasOwn(data, 'decision'))
  if (given !== undefined) return decisionIn(given)
  const text = said.text.trim()
  const [data] = said.data
  if (isQuestion(gate) && (text !== '' || data !== undefined)) {
    return { decision: 'EDIT', revisedOutput: JSON.stringify(text === '' ? data : said.text) }
  }
  if (text === '') throw undecided('must say something, or have data with a decision')
  const word = decisionInWords(text)
  if (word !== undefined) return word
  if (gate.timing === 'DURING_EXECUTION' && !isJson(text)) {
    throw undecided('must be "approve", "reject: …", "exit", or the input of the tool as JSON')
  }
  return { decision: 'EDIT', revisedOutput: said.text }
}

function decisionIn(given: unknown): ReviewDecisionBody {
  const { decision, revisedOutput, feedback } = isObject(given) ? given : {}
  const decoded = decode(ReviewDecisionBody, {
    decision,
    ...(revisedOutput === undefined ? {} : { revisedOutput }),
    ...(feedback === undefined ? {} : { feedback }),
  })
  if (decoded.ok) return decoded.value
  throw invalidParams(
    decoded.problems.map((problem) => ({ ...problem, path: `/message/parts${problem.path}` })),
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function undecided(message: string): Error {
  return invalidParams([{ path: '/message/parts', message }])
}
