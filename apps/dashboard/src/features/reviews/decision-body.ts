/** Pure: from what somebody has written to a decision as the server takes it. */
import type { Draft, DraftMode } from './drafts.ts'
import type { ReviewLike } from './review-like.ts'
import type { ReviewDecisionBody } from '@tutti/protocol'

import { asksForText } from './review-like.ts'

/** What an edit begins with. */
export function originalOf(review: ReviewLike): string {
  switch (review.timing) {
    case 'AFTER_EXECUTION':
      return review.taskOutput
    case 'BEFORE_EXECUTION':
      return review.taskDescription
    case 'DURING_EXECUTION':
      return asksForText(review) ? '' : inputText(review.detail?.tool?.input)
  }
}

/** Whether the text of an edit has to be JSON. */
export function mustBeJson(review: ReviewLike, { isJson }: Pick<Draft, 'isJson'>): boolean {
  if (review.timing !== 'DURING_EXECUTION') return false
  return asksForText(review) ? isJson : true
}

/** Why a text is no JSON; undefined when it is. */
export function jsonProblem(text: string): string | undefined {
  if (text.trim() === '') return 'Empty; JSON is needed'
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `Not JSON yet: ${error instanceof Error ? error.message : String(error)}`
  }
}

export function decisionOf(review: ReviewLike, mode: DraftMode, draft: Draft): ReviewDecisionBody {
  if (mode === 'EXIT_EARLY') return { decision: mode }
  if (mode === 'REJECT') return { decision: mode, feedback: draft.feedback.trim() }
  const text = draft.text ?? originalOf(review)
  const isWords = asksForText(review) && !draft.isJson
  return { decision: mode, revisedOutput: isWords ? JSON.stringify(text) : text }
}

/** Whether a draft holds words that would be a pity to lose. */
export function isWorthKeeping(review: ReviewLike, { text, feedback }: Draft): boolean {
  return (text !== undefined && text !== originalOf(review)) || feedback.trim() !== ''
}

function inputText(input: unknown): string {
  return JSON.stringify(input, undefined, 2) ?? ''
}
