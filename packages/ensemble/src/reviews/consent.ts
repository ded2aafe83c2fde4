/**
 * Decides which recorded decisions still hold. A reviewer decides about the inputs of the run, the code and overrides of
 * the task, and the question with its call or output. Their digest, the basis, is recorded when the review opens.
 *
 * The models of a task are not part of its basis, because a run may change them at any time without asking.
 */
import { cachePerObject, computeJsonDigest } from '@tutti/core/internal'

import { describeTask } from '../definition/manifest.ts'
import { isWaitSlot, toOperationId } from '../scope/recorded-operations.ts'
import { StepLog, type TaskLog } from '../scope/step-log.ts'
import { createToolSlotPrefix } from './review-slots.ts'

import type { Inputs } from '../definition/inputs.ts'
import type { ReviewAnswer } from '../ports/run-reviewer.ts'
import type { RunStep, StepOf } from '../ports/run-step.ts'
import type { RecordedReview } from '../scope/recorded-review.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { ReviewQuestion } from './review-question.ts'
import type { DecidingEvent, ReplayMode } from '@tutti/protocol/internal'

/** A way to execute recorded work again. */
type Repetition = 'resume' | 'fork' | ReplayMode

/** Selects the recorded decisions that an execution may reuse. */
type DecisionReuse = 'all' | 'same basis' | 'none'

/**
 * The recorded decisions that each way to execute recorded work again may reuse:
 *
 * - a resumed run, also with other code: those with the same basis, because they were made for this execution;
 * - a fork: none, because it is another execution. Work that was completed before the fork is not repeated, and an open
 *   review with the same basis stays open. A wait with the same basis that an event or time has ended stays ended, because
 *   that is not a consent (ENS-G19);
 * - a replay: all, because it executes nothing that a person approved. The results of calls come from the record, and the
 *   log of the replay does not show the decisions as its own.
 */
const DECISION_REUSE: Readonly<Record<Repetition, DecisionReuse>> = {
  resume: 'same basis',
  fork: 'none',
  models: 'all',
  frozen: 'all',
}

/** Whether a recorded review stands for the review that the code asks for now, which has the basis `basis`. */
export function isReusable(
  { opened, closed, isCopied }: RecordedReview,
  basis: string,
  replay: ReplayMode | undefined,
): boolean {
  const reuse = DECISION_REUSE[replay ?? (isCopied ? 'fork' : 'resume')]
  if (reuse === 'all') return true
  if (reuse === 'none' && closed !== undefined && !isEndedWait(opened, closed)) return false
  return opened.basis === basis
}

/** Whether a wait has ended without a person: by an event, or by its time. */
function isEndedWait(
  { slot }: StepOf<'gate_opened'>,
  { decision, timedOut }: StepOf<'gate_closed'>,
): boolean {
  return isWaitSlot(slot) && (timedOut || findDecidingEvent(decision) !== undefined)
}

/** Returns the external event that decided a review; undefined if there is none. */
function findDecidingEvent(decision: ReviewAnswer): DecidingEvent | undefined {
  return 'input' in decision ? decision.event : undefined
}

/**
 * Returns the steps by which a fork gets the events again that waits of its parent got after the start of the fork.
 *
 * @param copied steps of the parent that the fork copies.
 * @param rest steps of the parent after them.
 */
export function listEventsForFork(
  copied: readonly RunStep[],
  rest: readonly RunStep[],
): readonly StepOf<'event_given'>[] {
  const opened = new Map(
    [...copied, ...rest].flatMap((step) =>
      step.kind === 'gate_opened' ? [[step.reviewId, step] as const] : [],
    ),
  )
  return rest.flatMap((step): readonly StepOf<'event_given'>[] => {
    if (step.kind !== 'gate_closed' || findDecidingEvent(step.decision) === undefined) return []
    const review = opened.get(step.reviewId)
    if (review === undefined) return []
    const { taskName, attempt, slot, basis } = review
    const { decision } = step
    return [{ kind: 'event_given', runMs: 0, taskName, wait: { attempt, slot, basis }, decision }]
  })
}

/**
 * Returns the reviews that a fork with these steps asks again, unless its request gives the output of their task: open
 * ones without a given event, and decided ones whose work is not completed.
 */
export function listReviewsOfFork(steps: readonly RunStep[]): readonly StepOf<'gate_opened'>[] {
  const log = new StepLog(steps)
  return steps.filter((step): step is StepOf<'gate_opened'> => {
    if (step.kind !== 'gate_opened') return false
    const task = log.task(step.taskName)
    const recorded = task.findReview(step.slot, step.attempt)
    if (task.hasEnded || recorded?.opened !== step) return false
    if (recorded.closed !== undefined && isEndedWait(step, recorded.closed)) return false
    if (recorded.closed === undefined && log.findGivenEvent(step.taskName, step) !== undefined)
      return false
    if (step.timing === 'BEFORE_EXECUTION') return true
    return step.attempt === task.progress().attempt && !isOfEndedCall(task, step)
  })
}

function isOfEndedCall(task: TaskLog, { attempt, slot }: StepOf<'gate_opened'>): boolean {
  // A handler whose output is recorded does not run again.
  if (task.find('handler_ended', attempt) !== undefined) return true
  return task.of('tool_ended').some((ended) => {
    if (ended.attempt !== attempt) return false
    const { iterationIndex, position } = ended
    const turn = task.find('model_turn', attempt, (step) => step.iterationIndex === iterationIndex)
    const callId =
      ended.ordinal === undefined
        ? turn?.reply.toolCalls[position]?.id
        : toOperationId('call', ended.ordinal)
    return callId !== undefined && slot.startsWith(createToolSlotPrefix(iterationIndex, callId))
  })
}

/** Returns the digest of everything that a decision about the question covers. */
export function computeBasis(scope: TaskScope, question: ReviewQuestion): string {
  const { timing, taskDescription, taskOutput, settings, approval } = question
  // An event is not a consent: other code may receive the same one.
  if (question.kind === 'EVENT') return computeJsonDigest([timing, approval?.input ?? null])
  const { prompt, requiredRole } = { ...scope.run.ensemble.review, ...settings }
  return computeJsonDigest([
    digestInputs(scope.run.inputs),
    digestTask(scope),
    timing,
    prompt ?? null,
    requiredRole ?? null,
    // The description of a task before it begins follows from its inputs and its code.
    timing === 'BEFORE_EXECUTION' ? null : taskDescription,
    taskOutput ?? null,
    approval === undefined ? null : [approval.toolName, approval.input],
  ])
}

const digestInputs = cachePerObject((inputs: Inputs) => computeJsonDigest(inputs))

function digestTask({ run: { ensemble }, task }: TaskScope): string {
  const { model: _model, fallbackModels: _fallbackModels, ...fields } = describeTask(task, ensemble)
  return computeJsonDigest(fields)
}
