/** Pure: converts a review to a form of an MCP client, and the filled form to a decision. */
import { limitText } from '@tutti/core/internal'
import { ReviewDecisionBody, decode, type RunEventOf } from '@tutti/protocol'
import { isJsonObject } from '@tutti/protocol/internal'

import { asksQuestion } from '../service/decision-in-text.ts'

import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'

/** Maximum number of characters of a reviewed text in a form; the dashboard shows all of it. */
const MAX_SHOWN = 4_000

/** Returns the form of a review; `problem` describes why the last answer was not accepted. */
export function toReviewForm(
  review: RunEventOf<'review_requested'>,
  problem?: string,
): ElicitRequestFormParams {
  const message = [
    ...(problem === undefined ? [] : [`The last answer was not accepted: ${problem}`]),
    ...describeReview(review),
  ].join('\n\n')
  if (asksQuestion(review)) return { message, requestedSchema: ANSWER }
  const { timing } = review
  return {
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description:
            'CONTINUE accepts, EDIT replaces, REJECT requests another attempt, EXIT_EARLY ends the run early',
          enum: ['CONTINUE', 'EDIT', 'REJECT', 'EXIT_EARLY'],
        },
        text: {
          type: 'string',
          title: 'Text',
          description: `For EDIT, ${EDITED[timing]}; for REJECT, feedback for the agent`,
        },
      },
      required: ['decision'],
    },
  }
}

/** Form for the question of a tool. */
const ANSWER: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
}

/** Meaning of the text of an EDIT. */
const EDITED = {
  BEFORE_EXECUTION: 'the new text of the task',
  DURING_EXECUTION: 'the input of the tool as JSON',
  AFTER_EXECUTION: 'the new output',
} as const

function describeReview(review: RunEventOf<'review_requested'>): readonly string[] {
  const { taskName, taskDescription, taskOutput, prompt, toolName } = review
  const { toolInput, answerSchema } = review
  if (asksQuestion(review)) {
    return [
      prompt ?? taskDescription,
      `Task "${taskName}" asks through the tool ${toolName}`,
      ...(isTextSchema(answerSchema)
        ? []
        : [`JSON Schema of the answer: ${JSON.stringify(answerSchema)}`]),
    ]
  }
  const shown = (title: string, text: string): string => `${title}:\n${limitText(text, MAX_SHOWN)}`
  return [
    prompt ?? `Review of "${taskName}"`,
    shown(`Task "${taskName}"`, taskDescription),
    ...(taskOutput === '' ? [] : [shown('Output', taskOutput)]),
    ...(toolName === undefined ? [] : [shown(`Tool ${toolName}`, JSON.stringify(toolInput) ?? '')]),
  ]
}

/** Whether an answer by the schema is any text; also without a schema. */
function isTextSchema(schema: unknown): boolean {
  return schema === undefined || (isJsonObject(schema) && schema['type'] === 'string')
}

/** A decision, or the problem with the form. */
export type FormAnswer =
  | { readonly ok: true; readonly decision: ReviewDecisionBody }
  | { readonly ok: false; readonly problem: string }

/** Reads the decision from a form. */
export function readForm(content: unknown): FormAnswer {
  const { answer } = readFields(content)
  if (typeof answer === 'string') {
    return { ok: true, decision: { decision: 'EDIT', revisedOutput: answer } }
  }
  const { decision, text } = { decision: undefined, text: undefined, ...readFields(content) }
  const isText = typeof text === 'string' && text !== ''
  const read = decode(ReviewDecisionBody, {
    decision,
    ...(decision === 'EDIT' && isText ? { revisedOutput: text } : {}),
    ...(decision === 'REJECT' && isText ? { feedback: text } : {}),
  })
  if (isText && (decision === 'CONTINUE' || decision === 'EXIT_EARLY')) {
    return {
      ok: false,
      problem: `${decision} uses no text: choose EDIT or REJECT, or leave the text empty`,
    }
  }
  if (read.ok) return { ok: true, decision: read.value }
  if (decision === 'EDIT' && !isText) return { ok: false, problem: 'EDIT requires a text' }
  const given = JSON.stringify(decision) ?? 'nothing'
  return {
    ok: false,
    problem: `the decision must be one of CONTINUE, EDIT, REJECT, EXIT_EARLY, got ${given}`,
  }
}

interface Fields {
  readonly decision?: unknown
  readonly text?: unknown
  readonly answer?: unknown
}

function readFields(content: unknown): Fields {
  return typeof content === 'object' && content !== null ? content : {}
}
