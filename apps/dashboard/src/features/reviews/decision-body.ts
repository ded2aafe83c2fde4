/** Converts a reviewer's draft to the body of a decision. Pure. */
import type { Draft, DraftMode } from './drafts.ts'
import type { ReviewLike } from './review-like.ts'
import type { ReviewDecisionBody } from '@tutti/protocol'

import { asksForText, isClientCall } from './review-like.ts'

/** Returns the initial text of an edit. */
export function findOriginalText(review: ReviewLike): string {
  switch (review.timing) {
    case 'AFTER_EXECUTION':
      return review.taskOutput
    case 'BEFORE_EXECUTION':
      return review.taskDescription
    case 'DURING_EXECUTION':
      return asksForText(review) || isClientCall(review)
        ? ''
        : formatInput(review.detail?.tool?.input)
  }
}

/** Whether the edited text must be JSON. */
export function mustBeJson(review: ReviewLike, { isJson }: Pick<Draft, 'isJson'>): boolean {
  if (review.timing !== 'DURING_EXECUTION' || isClientCall(review)) return false
  return asksForText(review) ? isJson : true
}

/** Returns the reason why a text is not valid JSON; undefined if it is valid. */
export function findJsonProblem(text: string): string | undefined {
  if (text.trim() === '') return 'Enter JSON'
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `Invalid JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}

export function toDecisionBody(
  review: ReviewLike,
  mode: DraftMode,
  draft: Draft,
): ReviewDecisionBody {
  if (mode === 'EXIT_EARLY') return { decision: mode }
  if (mode === 'REJECT') return { decision: mode, feedback: draft.feedback.trim() }
  const text = draft.text ?? findOriginalText(review)
  const isWords = asksForText(review) && !draft.isJson
  return { decision: mode, revisedOutput: isWords ? JSON.stringify(text) : text }
}

/** Whether a draft contains text of the reader. */
export function isWorthKeeping(review: ReviewLike, { text, feedback }: Draft): boolean {
  return (text !== undefined && text !== findOriginalText(review)) || feedback.trim() !== ''
}

function formatInput(input: unknown): string {
  return JSON.stringify(input, undefined, 2) ?? ''
}
