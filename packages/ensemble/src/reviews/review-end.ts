/** Pure: how gates end, as events and steps say it, in a run that executes and in one at rest. */
import { TuttiError, type Clock, isoNow } from '@tutti/core'

import { fromStepError, type StepLog } from '../scope/step-log.ts'

import type { StepOf } from '../ports/run-step.ts'
import type { Task } from '../definition/task.ts'
import type { RunEventOf } from '@tutti/protocol'
import type { Gate, GateDecision, ReviewOutcome } from '../ports/run-reviewer.ts'

/** What the steps say of one gate. */
export interface KnownGate {
  readonly opened: StepOf<'gate_opened'>
  readonly closed: StepOf<'gate_closed'> | undefined
}

/** The gate of that id; undefined when the steps do not know it. */
export function knownGate(log: StepLog, reviewId: string): KnownGate | undefined {
  const isIt = (step: { readonly reviewId: string }): boolean => step.reviewId === reviewId
  for (const taskName of log.taskNames) {
    const known = log.task(taskName)
    const opened = known.of('gate_opened').find(isIt)
    if (opened !== undefined) return { opened, closed: known.of('gate_closed').find(isIt) }
  }
  return undefined
}

/** Whether a decision is the very one that closed a gate, sent again. */
export function isSameDecision(
  { id }: { readonly id?: string },
  closing: { readonly id?: string },
): boolean {
  return id !== undefined && id === closing.id
}

/** Whether a gate that was closed so has ended the run early. */
export function hasEndedRun({
  decision,
  withdrawn,
  error,
}: Pick<StepOf<'gate_closed'>, 'decision' | 'withdrawn' | 'error'>): boolean {
  return decision.action === 'EXIT_EARLY' && withdrawn !== true && error === undefined
}

/** What an earlier process came to at a gate. */
export function toReviewOutcome({
  decision,
  timedOut,
  error,
}: StepOf<'gate_closed'>): ReviewOutcome {
  if (error !== undefined) throw fromStepError(error)
  return { decision, timedOut }
}

/** What silence means; a gate that fails its task rejects its work, with no way to try again. */
export function decisionAfterTimeout({
  onTimeout,
  timeoutMs,
}: Pick<Gate, 'onTimeout' | 'timeoutMs'>): GateDecision {
  if (onTimeout !== 'FAIL') return { action: onTimeout }
  return { action: 'REJECT', feedback: `Nobody reviewed within ${timeoutMs} ms` }
}

/** The event of a decision that was taken now. */
export function decidedEvent(
  clock: Clock,
  reviewId: string,
  decision: GateDecision,
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
    ...(action === 'EDIT' ? { revisedOutput: revisedText(decision) } : {}),
  }
}

function revisedText(decision: GateDecision & { readonly action: 'EDIT' }): string {
  if ('text' in decision) return decision.text
  return typeof decision.input === 'string' ? decision.input : JSON.stringify(decision.input)
}

/** What is wrong with an edited output of `task`; undefined when it fits. */
export async function findTextProblem(
  { outputReader }: Pick<Task, 'outputReader'>,
  edited: string,
): Promise<string | undefined> {
  const reading = await outputReader?.read(edited)
  return reading === undefined || reading.ok ? undefined : reading.problem
}

/** The refusal of a decision that came too late. */
export function reviewResolved(reviewId: string): TuttiError {
  return new TuttiError('REVIEW_RESOLVED', `Review "${reviewId}" is closed`)
}

/** The refusal of a decision of something that nobody asks. */
export function reviewNotFound(reviewId: string, open: readonly string[]): TuttiError {
  return new TuttiError(
    'REVIEW_NOT_FOUND',
    `No review has the id "${reviewId}". Open: [${open.join(', ')}]`,
  )
}
