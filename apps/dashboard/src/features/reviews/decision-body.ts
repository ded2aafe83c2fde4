/** Converts a reviewer's draft to the body of a decision. Pure. */
import type { Draft, DraftMode } from './drafts.ts'
import type { ReviewLike } from './review-like.ts'
import type { ReviewDecisionBody } from '@tutti/protocol'

/** Returns the initial text of an edit. */
export function findOriginalText(review: ReviewLike): string {
  switch (review.kind) {
    case 'TASK_OUTPUT':
      return review.taskOutput
    case 'TASK_INPUT':
      return review.taskDescription
    case 'TOOL_CALL':
      return formatEditedJson(review.detail?.tool?.input)
    case 'QUESTION':
    case 'CLIENT_TOOL':
    case 'EVENT':
      return ''
  }
}

/** Whether the edited text must be JSON. */
export function mustBeJson({ kind }: Pick<ReviewLike, 'kind'>): boolean {
  return kind === 'TOOL_CALL'
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
  return { decision: mode, revisedOutput: draft.text ?? findOriginalText(review) }
}

/** Whether a draft contains text of the reader. */
export function isWorthKeeping(review: ReviewLike, { text, feedback }: Draft): boolean {
  return (text !== undefined && text !== findOriginalText(review)) || feedback.trim() !== ''
}

/** Formats a value as JSON, with an indentation of two spaces. */
export function formatEditedJson(input: unknown): string {
  return JSON.stringify(input, undefined, 2) ?? ''
}
