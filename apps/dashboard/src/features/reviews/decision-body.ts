/** Converts a reviewer's draft to the body of a decision. Pure. */
import { isJsonObject, type Capabilities } from '@tutti/protocol'

import { createFormDraft, type FormDraft } from '../../ui/schema-form/form-draft.ts'
import { createInitialValue } from '../../ui/schema-form/initial-value.ts'

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
      return formatInput(review.detail?.tool?.input)
    case 'QUESTION':
    case 'CLIENT_TOOL':
      return ''
  }
}

/**
 * Returns the schema of the value that a text contains, by which a form edits it: the input of a tool in the catalog of
 * the server, or an answer that is not any text. Undefined for other texts.
 */
export function findEditSchema(
  { kind, detail, answerSchema }: Pick<ReviewLike, 'kind' | 'detail' | 'answerSchema'>,
  capabilities: Pick<Capabilities, 'tools'> | undefined,
): object | undefined {
  if (kind === 'TOOL_CALL') {
    return capabilities?.tools.find(({ name }) => name === detail?.tool?.name)?.inputSchema
  }
  if (kind !== 'QUESTION' || !isJsonObject(answerSchema)) return undefined
  return isTextSchema(answerSchema) && !('enum' in answerSchema) ? undefined : answerSchema
}

/** Returns the form of an edit before any change. */
export function createEditDraft(review: ReviewLike, schema: object | undefined): FormDraft {
  const { kind, detail } = review
  if (schema === undefined) return createFormDraft(undefined)
  return createFormDraft(
    kind === 'TOOL_CALL' ? detail?.tool?.input : createInitialValue(schema, schema),
  )
}

/** Returns the text of an edited value: itself if its schema has the type string, else JSON. */
export function formatEdit(schema: object, value: unknown): string {
  return isTextSchema(schema) && typeof value === 'string' ? value : formatInput(value)
}

function isTextSchema(schema: object): boolean {
  return 'type' in schema && schema.type === 'string'
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

function formatInput(input: unknown): string {
  return JSON.stringify(input, undefined, 2) ?? ''
}
