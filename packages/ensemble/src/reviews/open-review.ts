/** Opens reviews: from a question to the review, and to the event and the step that request it. */
import { DEFAULT_REVIEW_TIMEOUT_MS } from '../definition/review-settings.ts'

import type { OpenReview } from '../ports/run-reviewer.ts'
import type { StepOf } from '../ports/run-step.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { ReviewQuestion } from './review-question.ts'

/** Returns the review of a question. @param opened the step with which an earlier process opened it */
export function createReview(
  { run, task, identity }: TaskScope,
  question: ReviewQuestion,
  opened: StepOf<'gate_opened'> | undefined,
): OpenReview {
  const { kind, timing, settings, taskDescription, taskOutput = '' } = question
  const { approval, waitsFor, endsAt } = question
  const merged = { ...run.ensemble.review, ...settings }
  const { prompt, requiredRole, onTimeout = 'EXIT_EARLY' } = merged
  const { taskName, taskIndex, attempt } = identity
  const openedAt = opened?.openedAt ?? run.clock.now()
  // On the wire, a limit of 0 ms means none.
  const limitMs =
    endsAt === undefined
      ? (merged.timeoutMs ?? DEFAULT_REVIEW_TIMEOUT_MS)
      : Math.max(1, endsAt - openedAt)
  return {
    reviewId: opened?.reviewId ?? `review-${crypto.randomUUID()}`,
    runId: run.runId,
    kind,
    timing,
    taskName,
    taskIndex,
    attempt,
    agentRole: task.agent.role,
    taskDescription,
    taskOutput,
    ...(prompt === undefined ? {} : { prompt }),
    // Events and stores hold whole milliseconds.
    timeoutMs: Math.ceil(limitMs),
    onTimeout,
    ...(requiredRole === undefined ? {} : { requiredRole }),
    openedAt,
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...(approval === undefined ? {} : { approval }),
  }
}

/** Emits the request of a review, and records that it is open. */
export function emitRequested(
  scope: TaskScope,
  review: OpenReview,
  recorded: Pick<StepOf<'gate_opened'>, 'slot' | 'basis'>,
): void {
  const { reviewId, kind, timing, taskName, taskIndex, attempt, agentRole, approval } = review
  scope.emit(
    {
      type: 'review_requested',
      reviewId,
      kind,
      taskDescription: review.taskDescription,
      taskOutput: review.taskOutput,
      timing,
      prompt: review.prompt ?? null,
      timeoutMs: review.timeoutMs === Infinity ? 0 : review.timeoutMs,
      onTimeout: review.onTimeout,
      ...(review.requiredRole === undefined ? {} : { requiredRole: review.requiredRole }),
      taskName,
      taskIndex,
      attempt,
      agentRole,
      requestedAt: new Date(review.openedAt).toISOString(),
      ...(approval === undefined
        ? {}
        : {
            toolName: approval.toolName,
            toolCallId: approval.callId,
            ...(approval.asksForAnswer === true && approval.clientTool !== true
              ? { answerSchema: approval.inputSchema }
              : { toolInput: approval.input }),
          }),
      ...(review.waitsFor === undefined ? {} : { waitsFor: [...review.waitsFor] }),
    },
    {
      kind: 'gate_opened',
      reviewId,
      timing,
      ...recorded,
      openedAt: review.openedAt,
      ...(approval?.asksForAnswer === true ? { answerSchema: approval.inputSchema } : {}),
    },
  )
}
