/** Passes questions of MCP servers on to the reviewer of a run. */
import { TuttiError, type ToolContext } from '@tutti/core'
import { foreignSchema } from '@tutti/core/internal'

import type { McpForm, McpFormAnswer } from './open-calls.ts'

/** Returns the answer that accepts a question, with values that match its schema. */
export function acceptForm(values: unknown): McpFormAnswer {
  // NOTE: the schema of a form allows only properties of these types.
  return { action: 'accept', content: values as NonNullable<McpFormAnswer['content']> }
}

/**
 * Asks the reviewer for the values of a form, and for the value itself if the form has only one. A rejection declines the
 * question and a missing answer cancels it, so a server gets values only from a reviewer.
 *
 * @param signal - aborts when the server no longer waits
 */
export async function askReviewer(
  requestAnswer: ToolContext['requestAnswer'],
  { message, requestedSchema }: McpForm,
  signal: AbortSignal,
): Promise<McpFormAnswer> {
  const [only, ...others] = Object.keys(requestedSchema.properties)
  const asked = others.length === 0 ? requestedSchema.properties[only ?? ''] : undefined
  const { schema } = foreignSchema(asked ?? requestedSchema)
  const toValues = (value: unknown): unknown =>
    only === undefined || asked === undefined ? value : { [only]: value }
  try {
    const answer = await requestAnswer(message, { schema, signal, onTimeout: 'CONTINUE' })
    if (answer.answered) return acceptForm(toValues(answer.value))
    // CONTINUE confirms a question without values; a missing answer never does.
    const isConfirmation = Object.keys(requestedSchema.properties).length === 0
    return isConfirmation && !answer.timedOut ? acceptForm({}) : { action: 'cancel' }
  } catch (error) {
    const isRejected = TuttiError.isInstance(error) && error.code === 'TOOL_REJECTED'
    if (isRejected) return { action: 'decline' }
    throw error
  }
}
