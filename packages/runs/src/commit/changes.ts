/**
 * Pure: what an event changes in the records of its run. Every store applies the same changes.
 *
 * RUNS-C1 The records follow from one event at a time: a run is WAITING_REVIEW while it is parked, which no
 *    event says; else it stays RUNNING, as whether it waits depends on all its tasks.
 * RUNS-C2 What a task has used counts all its attempts; its times and its error are those of the latest.
 * RUNS-C3 A task that a delegation makes has a record of its own; one of the plan keeps the record it has.
 * RUNS-C4 A run that is taken up again keeps the status it had.
 * RUNS-C5 A review is open from its request until it is decided, its time is over, or it is withdrawn.
 */
import type { ReviewRecord, ReviewStatus, RunRecord, TaskRecord } from '../run-record.ts'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/** One change of the records of a run. */
export type Change =
  | {
      readonly kind: 'run'
      readonly set: Partial<RunFields>
      readonly addCompletedTasks?: number
      /** The number of its tasks is that of their records. */
      readonly countTasks?: true
    }
  /** Nothing changes when a task of that index is there already. */
  | { readonly kind: 'new_task'; readonly task: NewTask }
  | {
      readonly kind: 'task'
      readonly taskIndex: number
      readonly set: Partial<TaskChangeFields>
      readonly addToolCalls?: number
      /** What was used so far was used by earlier attempts; that of the new one begins at 0. */
      readonly newAttempt?: true
    }
  | { readonly kind: 'new_review'; readonly review: NewReview }
  | {
      readonly kind: 'review'
      readonly reviewId: string
      readonly status: Exclude<ReviewStatus, 'OPEN'>
      readonly decidedBy?: string
    }

/** A review that opens. */
export type NewReview = Pick<ReviewRecord, 'reviewId' | 'request' | 'openedAt' | 'expiresAt'>

/** Fields of a run that events change. */
export type RunFields = Pick<
  Required<RunRecord>,
  'status' | 'startedAt' | 'completedAt' | 'durationMs' | 'error'
>

/**
 * Fields of a task that events change; null takes the value of an optional one away. Tokens, tool calls
 * and cost are those of the present attempt.
 */
export type TaskChangeFields = {
  readonly [
    K in keyof Omit<TaskRecord, 'taskIndex' | 'name' | 'agentRole' | 'outputOmitted'>
  ]-?: undefined extends TaskRecord[K] ? NonNullable<TaskRecord[K]> | null : TaskRecord[K]
}

/** A task that has not begun. */
export type NewTask = Pick<TaskRecord, 'taskIndex' | 'name' | 'description' | 'agentRole'>

/** The changes that `event` makes, in order; none for most events. */
export function changesOf(event: RunEvent): readonly Change[] {
  switch (event.type) {
    case 'ensemble_started':
      return [
        { kind: 'run', set: { status: 'RUNNING', startedAt: Date.parse(event.startedAt) } },
        ...event.tasks.map(({ name, description, agentRole }, index): Change => ({
          kind: 'new_task',
          task: { taskIndex: index + 1, name, description, agentRole },
        })),
        { kind: 'run', set: {}, countTasks: true },
      ]
    case 'delegation_started':
      return [
        { kind: 'new_task', task: workerTask(event) },
        { kind: 'run', set: {}, countTasks: true },
      ]
    case 'run_cancelling':
      return [{ kind: 'run', set: { status: 'CANCELLING' } }]
    case 'review_requested':
      return [{ kind: 'new_review', review: reviewOf(event) }]
    case 'review_decided':
      return [reviewEnd(event, 'DECIDED', event.decidedBy)]
    case 'review_timed_out':
      return [reviewEnd(event, 'TIMED_OUT')]
    case 'review_withdrawn':
      return [reviewEnd(event, 'WITHDRAWN')]
    case 'ensemble_completed':
      return [{ kind: 'run', set: { completedAt: Date.parse(event.completedAt) } }]
    case 'run_result':
      return [runEnd(event)]
    default:
      return taskChangesOf(event)
  }
}

function runEnd(event: RunEventOf<'run_result'>): Change {
  return {
    kind: 'run',
    set: {
      status: event.status,
      durationMs: event.durationMs,
      ...(event.error === undefined ? {} : { error: event.error }),
    },
  }
}

/** On the wire a time of 0 says that a review waits for ever. */
function reviewOf(request: RunEventOf<'review_requested'>): NewReview {
  const { reviewId, requestedAt, timeoutMs } = request
  const openedAt = Date.parse(requestedAt)
  return {
    reviewId,
    request,
    openedAt,
    ...(timeoutMs === 0 ? {} : { expiresAt: openedAt + timeoutMs }),
  }
}

function reviewEnd(
  { reviewId }: { readonly reviewId: string },
  status: Exclude<ReviewStatus, 'OPEN'>,
  decidedBy?: string,
): Change {
  return {
    kind: 'review',
    reviewId,
    status,
    ...(decidedBy === undefined ? {} : { decidedBy }),
  }
}

function workerTask(event: RunEventOf<'delegation_started'>): NewTask {
  const { workerTaskIndex, workerTask: name, taskDescription, workerRole } = event
  return { taskIndex: workerTaskIndex, name, description: taskDescription, agentRole: workerRole }
}

function taskChangesOf(event: RunEvent): readonly Change[] {
  switch (event.type) {
    case 'task_started':
      return [
        {
          ...change(event, {
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
        change(event, {
          inputTokens: event.inputTokens,
          outputTokens: event.outputTokens,
          costUsd: event.costEstimate === undefined ? null : Number(event.costEstimate),
        }),
      ]
    case 'tool_called':
      // A step is a part of a call that is counted itself.
      return event.parentToolCallId === undefined ? [{ ...change(event, {}), addToolCalls: 1 }] : []
    case 'task_completed':
      return [
        change(event, {
          status: 'COMPLETED',
          completedAt: Date.parse(event.completedAt),
          durationMs: event.durationMs,
          ...usedBy(event),
          output: event.output,
          ...finishOf(event),
        }),
        { kind: 'run', set: {}, addCompletedTasks: 1 },
      ]
    case 'task_attempt_failed':
    case 'task_failed':
      return [
        change(event, {
          status: event.code === 'CANCELLED' ? 'CANCELLED' : 'FAILED',
          completedAt: Date.parse(event.failedAt),
          durationMs: event.durationMs,
          ...usedBy(event),
          error: event.reason,
          ...finishOf(event),
        }),
      ]
    case 'task_skipped':
      return [change(event, { status: 'SKIPPED', error: event.reason })]
    default:
      return []
  }
}

/** What an attempt has used, as its end says. */
function usedBy(
  event: RunEventOf<'task_completed' | 'task_attempt_failed' | 'task_failed'>,
): Pick<TaskChangeFields, 'inputTokens' | 'outputTokens' | 'toolCallCount' | 'costUsd'> {
  const { inputTokens, outputTokens, toolCallCount, costUsd = null } = event
  return { inputTokens, outputTokens, toolCallCount, costUsd }
}

function finishOf({
  finishReason,
}: Pick<
  RunEventOf<'task_completed' | 'task_attempt_failed' | 'task_failed'>,
  'finishReason'
>): Pick<Partial<TaskChangeFields>, 'finishReason'> {
  return finishReason === undefined ? {} : { finishReason }
}

type TaskChange = Extract<Change, { kind: 'task' }>

function change(
  { taskIndex }: { readonly taskIndex: number },
  set: Partial<TaskChangeFields>,
): TaskChange {
  return { kind: 'task', taskIndex, set }
}
