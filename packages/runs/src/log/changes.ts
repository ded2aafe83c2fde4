/**
 * Pure: the changes that an event makes to the records of its run. Every store applies the same changes.
 *
 * RUNS-C1 Each event changes the records on its own. WAITING_REVIEW and WAITING do not follow from events, because whether
 *    a run waits depends on all its tasks: the queue sets them.
 * RUNS-C2 The usage of a task includes all its attempts. Its times and its error are those of the latest attempt.
 * RUNS-C3 A task that a delegation creates gets a new record. A delegated task of the plan retains its record.
 * RUNS-C4 A resumed run retains its status.
 * RUNS-C6 A task that other code adds when it resumes the run gets a record, or is pending again if it was skipped.
 * RUNS-C7 An event with a number that not every store can hold is refused.
 * RUNS-C5 A review is open from its request until it is decided, times out, or is withdrawn.
 */
import { assertStorable } from './check-changes.ts'

import type { ReviewStatus } from '../domain/run-record.ts'
import type { Change, NewReview, NewTask, TaskChangeFields } from '../domain/change.ts'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/**
 * Returns the changes that `event` makes, in order; most events make none.
 *
 * @throws {RangeError} when a number of the event cannot be stored.
 */
export function toRecordChanges(event: RunEvent): readonly Change[] {
  const changes = computeChanges(event)
  assertStorable(event.type, changes)
  return changes
}

function computeChanges(event: RunEvent): readonly Change[] {
  switch (event.type) {
    case 'ensemble_started':
      return [
        {
          kind: 'run',
          set: {
            status: 'RUNNING',
            startedAt: Date.parse(event.startedAt),
            outputTask: event.outputTask,
          },
        },
        ...event.tasks.map(({ name, description, agentRole }, index): Change => ({
          kind: 'new_task',
          task: { taskIndex: index + 1, name, description, agentRole },
        })),
        { kind: 'run', set: {}, countTasks: true },
      ]
    case 'run_resumed':
      return toChangedPlan(event)
    case 'delegation_started':
      return [
        { kind: 'new_task', task: toWorkerTask(event) },
        { kind: 'run', set: {}, countTasks: true },
      ]
    case 'run_cancelling':
      return [{ kind: 'run', set: { status: 'CANCELLING' } }]
    case 'review_requested':
      return [{ kind: 'new_review', review: toNewReview(event) }]
    case 'review_decided':
      return [
        toReviewEnd(event, 'DECIDED', { decidedBy: event.decidedBy, eventId: event.event?.id }),
      ]
    case 'review_timed_out':
      return [toReviewEnd(event, 'TIMED_OUT')]
    case 'review_withdrawn':
      return [toReviewEnd(event, 'WITHDRAWN')]
    case 'ensemble_completed':
      return [{ kind: 'run', set: { completedAt: Date.parse(event.completedAt) } }]
    case 'run_result':
      return [toRunEnd(event)]
    default:
      return toTaskChanges(event)
  }
}

function toRunEnd(event: RunEventOf<'run_result'>): Change {
  return {
    kind: 'run',
    set: {
      status: event.status,
      durationMs: event.durationMs,
      ...(event.error === undefined ? {} : { error: event.error }),
      ...(event.outputTask === undefined ? {} : { outputTask: event.outputTask }),
    },
  }
}

/** On the wire, a timeout of 0 means that a review waits for ever. */
function toNewReview(request: RunEventOf<'review_requested'>): NewReview {
  const { reviewId, requestedAt, timeoutMs } = request
  const openedAt = Date.parse(requestedAt)
  return {
    reviewId,
    request,
    openedAt,
    ...(timeoutMs === 0 ? {} : { expiresAt: openedAt + timeoutMs }),
  }
}

function toReviewEnd(
  { reviewId }: { readonly reviewId: string },
  status: Exclude<ReviewStatus, 'OPEN'>,
  by: { readonly decidedBy?: string | undefined; readonly eventId?: string | undefined } = {},
): Change {
  const { decidedBy, eventId } = by
  return {
    kind: 'review',
    reviewId,
    status,
    ...(decidedBy === undefined ? {} : { decidedBy }),
    ...(eventId === undefined ? {} : { eventId }),
  }
}

/**
 * Returns the output task, and the records of the tasks that other code adds. A task that other code had removed is
 * pending again.
 */
function toChangedPlan({
  addedTasks = [],
  outputTask,
}: RunEventOf<'run_resumed'>): readonly Change[] {
  const changes = addedTasks.flatMap(
    ({ taskIndex, name, description, agentRole }): readonly Change[] => [
      { kind: 'new_task', task: { taskIndex, name, description, agentRole } },
      { kind: 'task', taskIndex, set: { status: 'PENDING', description, error: null } },
    ],
  )
  const counted = addedTasks.length === 0 ? {} : ({ countTasks: true } as const)
  return [...changes, { kind: 'run', set: { outputTask }, ...counted }]
}

function toWorkerTask(event: RunEventOf<'delegation_started'>): NewTask {
  const { workerTaskIndex, workerTask: name, taskDescription, workerRole } = event
  return { taskIndex: workerTaskIndex, name, description: taskDescription, agentRole: workerRole }
}

function toTaskChanges(event: RunEvent): readonly Change[] {
  switch (event.type) {
    case 'task_started':
      return [
        {
          ...toTaskChange(event, {
            status: 'RUNNING',
            description: event.taskDescription,
            attempt: event.attempt,
            startedAt: Date.parse(event.startedAt),
            completedAt: null,
            durationMs: null,
            error: null,
            finishReason: null,
          }),
          newAttempt: true,
        },
      ]
    case 'metrics_snapshot':
      return [
        toTaskChange(event, {
          inputTokens: event.inputTokens,
          outputTokens: event.outputTokens,
          costUsd: event.costEstimate === undefined ? null : Number(event.costEstimate),
        }),
      ]
    case 'tool_called':
      // A nested call is a part of a call that is counted.
      return event.parentToolCallId === undefined
        ? [{ ...toTaskChange(event, {}), addToolCalls: 1 }]
        : []
    case 'task_completed':
      return [
        toTaskChange(event, {
          status: 'COMPLETED',
          completedAt: Date.parse(event.completedAt),
          durationMs: event.durationMs,
          ...pickUsage(event),
          output: event.output,
          ...pickFinishReason(event),
        }),
        { kind: 'run', set: {}, addCompletedTasks: 1 },
      ]
    case 'task_attempt_failed':
    case 'task_failed':
      return [
        toTaskChange(event, {
          status: event.code === 'CANCELLED' ? 'CANCELLED' : 'FAILED',
          completedAt: Date.parse(event.failedAt),
          durationMs: event.durationMs,
          ...pickUsage(event),
          error: event.reason,
          ...pickFinishReason(event),
        }),
      ]
    case 'task_skipped':
      return [toTaskChange(event, { status: 'SKIPPED', error: event.reason })]
    default:
      return []
  }
}

/** Returns the usage of an attempt from its last event. */
function pickUsage(
  event: RunEventOf<'task_completed' | 'task_attempt_failed' | 'task_failed'>,
): Pick<TaskChangeFields, 'inputTokens' | 'outputTokens' | 'toolCallCount' | 'costUsd'> {
  const { inputTokens, outputTokens, toolCallCount, costUsd = null } = event
  return { inputTokens, outputTokens, toolCallCount, costUsd }
}

function pickFinishReason({
  finishReason,
}: Pick<
  RunEventOf<'task_completed' | 'task_attempt_failed' | 'task_failed'>,
  'finishReason'
>): Pick<Partial<TaskChangeFields>, 'finishReason'> {
  return finishReason === undefined ? {} : { finishReason }
}

type TaskChange = Extract<Change, { kind: 'task' }>

function toTaskChange(
  { taskIndex }: { readonly taskIndex: number },
  set: Partial<TaskChangeFields>,
): TaskChange {
  return { kind: 'task', taskIndex, set }
}
