/** The values that a form of their schema edits. Loaded with the editor. Pure. */
import type { Capabilities } from '@tutti/protocol'
import { isJsonObject } from '@tutti/protocol/internal'

import { createFormDraft, type FormDraft } from '../../ui/schema-form/form-draft.ts'
import { createInitialValue } from '../../ui/schema-form/initial-value.ts'
import { formatEditedJson } from './decision-body.ts'

import type { ReviewLike } from './review-like.ts'

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
  return isTextSchema(schema) && typeof value === 'string' ? value : formatEditedJson(value)
}

function isTextSchema(schema: object): boolean {
  return 'type' in schema && schema.type === 'string'
}
