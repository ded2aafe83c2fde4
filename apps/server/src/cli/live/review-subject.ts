/** Pure: formats the subject of a review for a terminal. */
import { formatAge } from './format-values.ts'
import { formatReviewQuestionText } from './plain-lines.ts'
import { toSingleLine, toTerminalText } from './text-width.ts'

import type { PendingReview, ReviewTiming } from '@tutti/protocol'

/** Fields of a review that a reviewer needs, from the list of reviews or from the state of the run. */
export type AskedReview = Pick<
  PendingReview,
  | 'reviewId'
  | 'taskDescription'
  | 'taskOutput'
  | 'timing'
  | 'prompt'
  | 'taskName'
  | 'toolName'
  | 'toolInput'
>

/** Effect of a rejection. */
export const REJECT_EFFECTS: Readonly<Record<ReviewTiming, string>> = {
  BEFORE_EXECUTION: 'the task does not run, and fails with your feedback',
  DURING_EXECUTION: 'the tool is not called; the agent reads your feedback and continues',
  AFTER_EXECUTION: 'the agent repeats the task with your feedback',
}

/** Maximum number of lines shown; the editor shows all. */
const MAX_LINES = 40

/** Returns the question of a review. */
export function formatReviewQuestion({
  taskName = 'the task',
  toolName,
  prompt,
  timing,
}: AskedReview): string {
  return formatReviewQuestionText({
    taskName,
    timing,
    ...(prompt === undefined ? {} : { prompt }),
    ...(toolName === undefined ? {} : { toolName }),
  })
}

/** Returns a title for the subject of a review. */
export function formatReviewHeading({
  taskName = 'the task',
  toolName = 'a tool',
  timing,
}: AskedReview): string {
  if (timing === 'AFTER_EXECUTION') return `Output of ${toSingleLine(taskName)}`
  if (timing === 'BEFORE_EXECUTION') return `Description of ${toSingleLine(taskName)}`
  return `${toSingleLine(taskName)} wants to call ${toSingleLine(toolName)}`
}

/** Returns the reviewed text, as it can be edited. */
export function reviewedText({
  timing,
  taskOutput,
  taskDescription,
  toolInput,
}: AskedReview): string {
  if (timing === 'AFTER_EXECUTION') return taskOutput
  if (timing === 'BEFORE_EXECUTION') return taskDescription
  return JSON.stringify(toolInput, undefined, 2) ?? 'null'
}

/** Returns the reviewed text in lines for display; before a tool call, with the description of the task. */
export function subjectLines(review: AskedReview): readonly string[] {
  const about = review.timing === 'DURING_EXECUTION' ? [review.taskDescription, ''] : []
  const lines = toTerminalText([...about, reviewedText(review)].join('\n'))
    .trimEnd()
    .split('\n')
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
