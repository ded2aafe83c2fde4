/** Pure: formats the subject of a review for a terminal. */
import { isJsonObject } from '@tutti/protocol/internal'

import { formatAge } from './format-values.ts'
import { formatReviewQuestionText } from './plain-lines.ts'
import { toSingleLine, toTerminalText } from '../../terminal/text-width.ts'

import type { PendingReview } from '@tutti/protocol'
import type { ReviewKind } from '@tutti/protocol/internal'

/** Fields of a review that a reviewer needs, from the list of reviews or from the state of the run. */
export type AskedReview = Pick<
  PendingReview,
  | 'reviewId'
  | 'kind'
  | 'taskDescription'
  | 'taskOutput'
  | 'prompt'
  | 'taskName'
  | 'toolName'
  | 'toolInput'
  | 'answerSchema'
>

/** Effect of a rejection. */
export const REJECT_EFFECTS: Readonly<Record<ReviewKind, string>> = {
  TASK_INPUT: 'the task does not run, and fails with your feedback',
  TASK_OUTPUT: 'the agent repeats the task with your feedback',
  TOOL_CALL: 'the tool is not called; the agent reads your feedback and continues',
  QUESTION: 'the tool call that asks fails; the agent reads your feedback and continues',
  CLIENT_TOOL: 'the call fails; the agent reads your feedback and continues',
  EVENT: 'the wait fails with your feedback',
}

/** Maximum number of lines shown; the editor shows all. */
const MAX_LINES = 40

/** Returns the question of a review. */
export function formatReviewQuestion({ taskName, toolName, prompt, kind }: AskedReview): string {
  return formatReviewQuestionText({
    taskName,
    kind,
    ...(prompt === undefined ? {} : { prompt }),
    ...(toolName === undefined ? {} : { toolName }),
  })
}

/** Returns a title for the subject of a review. */
export function formatReviewHeading({ taskName, toolName = 'a tool', kind }: AskedReview): string {
  const task = toSingleLine(taskName)
  switch (kind) {
    case 'TASK_INPUT':
      return `Description of ${task}`
    case 'TASK_OUTPUT':
      return `Output of ${task}`
    case 'QUESTION':
      return `Question of ${task}`
    case 'EVENT':
      return `Wait of ${task}`
    case 'TOOL_CALL':
    case 'CLIENT_TOOL':
      return `${task} wants to call ${toSingleLine(toolName)}`
  }
}

/** Returns the reviewed text, as it can be edited; empty for a question. */
export function reviewedText({
  kind,
  taskOutput,
  taskDescription,
  toolInput,
}: AskedReview): string {
  switch (kind) {
    case 'TASK_INPUT':
      return taskDescription
    case 'TASK_OUTPUT':
      return taskOutput
    case 'QUESTION':
    case 'EVENT':
      return ''
    case 'TOOL_CALL':
    case 'CLIENT_TOOL':
      return JSON.stringify(toolInput, undefined, 2) ?? 'null'
  }
}

/** Returns the text that the reviewer needs. */
function formatSubject(review: AskedReview): string {
  const { kind, prompt, taskDescription, answerSchema } = review
  switch (kind) {
    case 'TASK_INPUT':
    case 'TASK_OUTPUT':
      return reviewedText(review)
    case 'QUESTION':
    case 'EVENT': {
      const expected = isTextSchema(answerSchema)
        ? []
        : ['', `JSON Schema of the answer: ${JSON.stringify(answerSchema)}`]
      return [prompt ?? taskDescription, ...expected].join('\n')
    }
    case 'TOOL_CALL':
    case 'CLIENT_TOOL':
      return [taskDescription, '', reviewedText(review)].join('\n')
  }
}

/** Whether an answer by the schema is any text. */
function isTextSchema(schema: unknown): boolean {
  return isJsonObject(schema) && schema['type'] === 'string'
}

/** Returns the subject of a review in lines for display. */
export function subjectLines(review: AskedReview): readonly string[] {
  const lines = toTerminalText(formatSubject(review)).trimEnd().split('\n')
  if (lines.length <= MAX_LINES) return lines
  const shown = lines.slice(0, MAX_LINES - 1)
  return [...shown, `… and ${lines.length - shown.length} more lines; "Edit" shows all`]
}

/** Formats the time left to decide a review; `now` is in milliseconds since 1970. */
export function formatTimeLeft(
  { expiresAt }: Pick<PendingReview, 'expiresAt'>,
  now: number,
): string {
  return expiresAt === undefined ? 'no limit' : `${formatAge(Date.parse(expiresAt) - now)} left`
}

/** Says that a decision is stored, but the run waits for a build, and what to do. */
export function formatBuildWait(runId: string, build: string): string {
  return (
    `The decision is stored. Run ${runId} continues when a process of build ${build} starts; ` +
    `or move it to another build: tutti migrate ${runId} --to BUILD`
  )
}
