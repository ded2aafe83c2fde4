/**
 * Pure: what somebody says to an open review, for whom a decision is a word and not a form.
 *
 * Words for yes, no and exit count only when nothing else is said: "no" refuses and "no: why" says why, while "no
 * changes in the second part" is a new text.
 */
import type { ReviewDecisionBody, RunEventOf } from '@tutti/protocol'

/** What a word depends on. */
export type GateAsked = Pick<
  RunEventOf<'review_requested'>,
  'timing' | 'taskDescription' | 'toolInput'
>

const YES = /^(?:approved?|continue|go on|yes|y|ok(?:ay)?|accept(?:ed)?|lgtm)[.!]?$/i
const EXIT = /^(?:exit|exit[ _]early|stop)[.!]?$/i
const NO = /^(?:reject(?:ed)?|deny|denied|no|n)(?:[.!]|\s*[:,]\s*(?<why>.*))?$/is

/** The decision that the words are; undefined when they are a text. */
export function decisionInWords(text: string): ReviewDecisionBody | undefined {
  const said = text.trim()
  if (YES.test(said)) return { decision: 'CONTINUE' }
  if (EXIT.test(said)) return { decision: 'EXIT_EARLY' }
  const no = NO.exec(said)
  if (no === null) return undefined
  const feedback = no.groups?.['why']?.trim() ?? ''
  return { decision: 'REJECT', ...(feedback === '' ? {} : { feedback }) }
}

/**
 * Whether a tool asks for words, and not whether it may be called: what it asks is all that it was given, or it was
 * given nothing. Then every word is the answer.
 */
export function isQuestion({ timing, taskDescription: asked, toolInput }: GateAsked): boolean {
  if (timing !== 'DURING_EXECUTION') return false
  if (toolInput === null || toolInput === asked) return true
  return typeof toolInput === 'object' && 'input' in toolInput && toolInput.input === asked
}
