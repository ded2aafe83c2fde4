/** Pure: what a review is about, as a person at a terminal reads it. */
import { formatAge } from './figures.ts'
import { reviewWords } from './plain-lines.ts'
import { toSingleLine, toTerminalText } from './text-width.ts'

import type { PendingReview, ReviewTiming } from '@tutti/protocol'

/** What a person has to know of a review to decide it: as the list gives it, or the run's own state. */
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

/** What rejecting does. */
export const REJECT_EFFECTS: Readonly<Record<ReviewTiming, string>> = {
  BEFORE_EXECUTION: 'the task is not done, and fails with your words',
  DURING_EXECUTION: 'the tool is not called; the agent reads your words and goes on',
  AFTER_EXECUTION: 'the agent does the task again with your words',
}

/** Lines that are shown at most; whoever edits sees all. */
const MAX_LINES = 40

/** What is asked. */
export function formatReviewQuestion({
  taskName = 'the task',
  toolName,
  prompt,
  timing,
}: AskedReview): string {
  return reviewWords({
    taskName,
    timing,
    ...(prompt === undefined ? {} : { prompt }),
    ...(toolName === undefined ? {} : { toolName }),
  })
}

/** What is looked at, in a few words. */
export function titleOf({
  taskName = 'the task',
  toolName = 'a tool',
  timing,
}: AskedReview): string {
  if (timing === 'AFTER_EXECUTION') return `Output of ${toSingleLine(taskName)}`
  if (timing === 'BEFORE_EXECUTION') return `What ${toSingleLine(taskName)} is to do`
  return `${toSingleLine(taskName)} wants to call ${toSingleLine(toolName)}`
}

/** What is looked at, as it would be edited. */
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

/** The same in lines to be shown, with what the tool is about to do. */
export function subjectLines(review: AskedReview): readonly string[] {
  const about = review.timing === 'DURING_EXECUTION' ? [review.taskDescription, ''] : []
  const lines = toTerminalText([...about, reviewedText(review)].join('\n'))
    .trimEnd()
    .split('\n')
  if (lines.length <= MAX_LINES) return lines
  const shown = lines.slice(0, MAX_LINES - 1)
  return [...shown, `… and ${lines.length - shown.length} more lines; "Edit" shows them all`]
}

/** How much time is left to decide it; `now` is in milliseconds since 1970. */
export function leftOf({ expiresAt }: Pick<PendingReview, 'expiresAt'>, now: number): string {
  return expiresAt === undefined ? 'no limit' : `${formatAge(Date.parse(expiresAt) - now)} left`
}
