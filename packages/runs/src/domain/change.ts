/** Changes of the records of a run. */
import type { ReviewRecord, ReviewStatus, RunRecord, TaskRecord } from './run-record.ts'

/** A change to a run's records. */
export type Change =
  | {
      readonly kind: 'run'
      readonly set: Partial<RunFields>
      readonly addCompletedTasks?: number
      /** Sets the number of its tasks to the number of their records. */
      readonly countTasks?: true
    }
  /** Ignored if a task of that index exists. */
  | { readonly kind: 'new_task'; readonly task: NewTask }
  | {
      readonly kind: 'task'
      readonly taskIndex: number
      readonly set: Partial<TaskChangeFields>
      readonly addToolCalls?: number
      /** Adds the usage so far to that of earlier attempts; the usage of the new one starts at 0. */
      readonly newAttempt?: true
    }
  | { readonly kind: 'new_review'; readonly review: NewReview }
  | {
      readonly kind: 'review'
      readonly reviewId: string
      readonly status: Exclude<ReviewStatus, 'OPEN'>
      readonly decidedBy?: string
      /** Id of the external event that decided it. */
      readonly eventId?: string
    }

/** A review that opens. */
export type NewReview = Pick<ReviewRecord, 'reviewId' | 'request' | 'openedAt' | 'expiresAt'>

/** Fields of a run that events change. */
export type RunFields = Pick<
  Required<RunRecord>,
  'status' | 'startedAt' | 'completedAt' | 'durationMs' | 'error' | 'outputTask'
>

/**
 * Fields of a task that events change; null removes the value of an optional field. Tokens, tool calls and cost are
 * those of the current attempt.
 */
export type TaskChangeFields = {
  readonly [
    K in keyof Omit<TaskRecord, 'taskIndex' | 'name' | 'agentRole' | 'outputOmitted' | 'unreadable'>
  ]-?: undefined extends TaskRecord[K] ? NonNullable<TaskRecord[K]> | null : TaskRecord[K]
}

/** A task that has not started. */
export type NewTask = Pick<TaskRecord, 'taskIndex' | 'name' | 'description' | 'agentRole'>
