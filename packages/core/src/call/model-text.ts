/**
 * Text of an outcome for the model.
 *
 * CORE-A3 After a reviewer's EDIT, the model gets the new input before the result: its own call in the conversation still
 *    has the old one.
 */
import { formatExactJson } from '@tutti/protocol/internal'

import { errorMessage } from '../errors.ts'
import { limitText } from '../limit-text.ts'
import { toModelText } from '../tool/tool-result.ts'

import type { EditedInput, ToolCallOutcome } from '../tool/outcome.ts'

/** Maximum length of an edited input in the text for the model, in characters. */
export const MAX_EDIT_LENGTH = 50_000

/**
 * Returns the text of an outcome for the model: what reviewers changed, then the first `maxLength` characters of the
 * result; a negative limit means no limit.
 */
export function toOutcomeText(
  { result, edits = [] }: Pick<ToolCallOutcome, 'result' | 'edits'>,
  maxLength = -1,
): string {
  const text = limitText(toModelText(result), maxLength)
  return edits.length === 0 ? text : `${edits.map(describeEdit).join('\n')}\n\n${text}`
}

function describeEdit({ toolName, isStep, input }: EditedInput): string {
  const whose = isStep ? `the call of "${toolName}", a step of this call,` : 'this call'
  const shown = limitText(describeJson(input), MAX_EDIT_LENGTH)
  return `A reviewer changed the input of ${whose} to ${shown}. The result is of the changed input.`
}

/** Returns a value as JSON, or the reason why it has none. */
export function describeJson(value: unknown): string {
  try {
    return formatExactJson(value) ?? 'nothing'
  } catch (error) {
    return `a value without a JSON form (${errorMessage(error)})`
  }
}
