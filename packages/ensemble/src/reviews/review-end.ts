/** Pure: the ends of reviews as events, steps and errors, for executing and for unowned runs. */
import { TuttiError, type Clock } from '@tutti/core'
import { formatExactJson, isoNow } from '@tutti/core/internal'

import { fromStepError, type StepLog } from '../scope/step-log.ts'

import type { Task } from '../definition/task.ts'
import type { OpenReview, ReviewAnswer } from '../ports/run-reviewer.ts'
import type { RecordedReview } from '../scope/recorded-review.ts'
import type { StepOf } from '../ports/run-step.ts'
import type { RunEventOf } from '@tutti/protocol'

/** Outcome of a review: a decision, or the action of its timeout. */
export interface ReviewOutcome {
  readonly decision: ReviewAnswer
  readonly timedOut: boolean
}

/** Returns the steps of a review; undefined if there are none. */
export function findRecordedReview(
  log: StepLog,
  reviewId: string,
): Pick<RecordedReview, 'opened' | 'closed'> | undefined {
  const isOfReview = (step: { readonly reviewId: string }): boolean => step.reviewId === reviewId
  for (const taskName of log.taskNames) {
    const task = log.task(taskName)
    const opened = task.of('gate_opened').find(isOfReview)
    if (opened !== undefined) return { opened, closed: task.of('gate_closed').find(isOfReview) }
  }
  return undefined
}

/** Whether a decision is the one that closed the review, sent again. */
export function isSameDecision(
  { id }: { readonly id?: string },
  closing: { readonly id?: string },
): boolean {
  return id !== undefined && id === closing.id
}

/** Whether a closed review has ended the run early. */
export function hasEndedRun({
  decision,
  withdrawn,
  error,
}: Pick<StepOf<'gate_closed'>, 'decision' | 'withdrawn' | 'error'>): boolean {
  return decision.action === 'EXIT_EARLY' && withdrawn !== true && error === undefined
}

/**
 * Returns the outcome of a review that an earlier process closed. Throws the recorded error, if there is one.
 */
export function toReviewOutcome({
  decision,
  timedOut,
  error,
}: StepOf<'gate_closed'>): ReviewOutcome {
  if (error !== undefined) throw fromStepError(error)
  return { decision, timedOut }
}

/** Returns the action of a timeout as a decision. FAIL rejects the work and allows no retry. */
export function toTimeoutDecision({
  onTimeout,
  timeoutMs,
}: Pick<OpenReview, 'onTimeout' | 'timeoutMs'>): ReviewAnswer {
  if (onTimeout !== 'FAIL') return { action: onTimeout }
  return { action: 'REJECT', feedback: `No decision within ${timeoutMs} ms` }
}

/** Returns the event of a decision that is made now. */
export function createDecidedEvent(
  clock: Clock,
  reviewId: string,
  decision: ReviewAnswer,
): RunEventOf<'review_decided'> {
  const { action, decidedBy } = decision
  return {
    type: 'review_decided',
    reviewId,
    decision: action,
    ...(decidedBy === undefined ? {} : { decidedBy }),
    decidedAt: isoNow(clock),
    ...(action === 'REJECT' && decision.feedback !== undefined
      ? { feedback: decision.feedback }
      : {}),
    ...(action === 'EDIT' && 'input' in decision && decision.event !== undefined
      ? { event: decision.event }
      : {}),
    ...(action === 'EDIT' ? { revisedOutput: renderRevisedText(decision) } : {}),
  }
}

function renderRevisedText(decision: ReviewAnswer & { readonly action: 'EDIT' }): string {
  if ('text' in decision) return decision.text
  return typeof decision.input === 'string'
    ? decision.input
    : (formatExactJson(decision.input) ?? '')
}

/** Returns the problem of an edited output of `task`; undefined if it is valid. */
export async function findTextProblem(
  { outputReader }: Pick<Task, 'outputReader'>,
  edited: string,
): Promise<string | undefined> {
  const reading = await outputReader?.read(edited)
  return reading === undefined || reading.ok ? undefined : reading.problem
}

/** Returns the error of a decision for a closed review. */
export function reviewResolvedError(reviewId: string): TuttiError {
  return new TuttiError('REVIEW_RESOLVED', `Review "${reviewId}" is closed`)
}

/** Returns the error of a decision for an unknown review. */
export function reviewNotFoundError(reviewId: string, open: readonly string[]): TuttiError {
  return new TuttiError(
    'REVIEW_NOT_FOUND',
    `No review has the id "${reviewId}". Open: [${open.join(', ')}]`,
  )
}

/** Returns the error of a task that a reviewer rejected, or whose review timed out. */
export function rejectionError(
  taskName: string,
  feedback: string | undefined,
  timedOut: boolean,
): TuttiError {
  if (timedOut) {
    return new TuttiError(
      'REVIEW_TIMEOUT',
      `Task "${taskName}": ${feedback ?? 'no decision in time'}`,
    )
  }
  const message = `The reviewer rejected task "${taskName}"`
  if (feedback === undefined || feedback.trim() === '') {
    return new TuttiError('REVIEW_REJECTED', message)
  }
  return new TuttiError('REVIEW_REJECTED', `${message}: ${feedback}`, { details: { feedback } })
}

/** Returns the error of a run that a review ended early. */
export function exitEarlyError(taskName: string, timedOut: boolean): TuttiError {
  const message = timedOut
    ? `The review of task "${taskName}" timed out`
    : `The reviewer of task "${taskName}" ended the run early`
  return new TuttiError('EXIT_EARLY', message, { details: { timedOut } })
}
