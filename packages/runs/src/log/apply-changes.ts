/** Pure: applies the changes of events to the records of a run in memory. */
import { sumTaskUsage, type StoredTask, type StoredUsage } from './stored-task.ts'

import type { Change, NewReview } from '../domain/change.ts'
import type { ReviewStatus, RunRecord } from '../domain/run-record.ts'

/** The tasks of a run, by index, as a map has them. */
export interface KnownTasks {
  readonly size: number
  get(index: number): StoredTask | undefined
  has(index: number): boolean
  values(): Iterable<StoredTask>
}

/** Tasks that can be changed. */
export interface ChangeableTasks extends KnownTasks {
  set(index: number, task: StoredTask): unknown
}

/** The records of a run that a write changes. */
export interface Records {
  run: RunRecord
  /** Whether a change sets the status of the run. */
  setsStatus: boolean
  /** All tasks, by index. */
  readonly tasks: ChangeableTasks
  readonly newReviews: Map<string, StoredReview>
  /** Existing reviews that end. */
  readonly endedReviews: Map<string, StoredReviewEnd>
}

export interface StoredReviewEnd {
  readonly status: Exclude<ReviewStatus, 'OPEN'>
  readonly decidedBy: string | undefined
  readonly eventId: string | undefined
}

/** A review that opens with a write, and may end with the same. */
export interface StoredReview {
  readonly review: NewReview
  readonly end?: StoredReviewEnd
}

const NOTHING_USED: StoredUsage = { inputTokens: 0, outputTokens: 0, toolCallCount: 0, costUsd: 0 }

/** A task before its first attempt. */
const NOT_BEGUN = {
  status: 'PENDING',
  attempt: 0,
  startedAt: null,
  completedAt: null,
  durationMs: null,
  output: null,
  error: null,
  finishReason: null,
  ...NOTHING_USED,
  ...toEarlier(NOTHING_USED),
} as const

/** Returns the indexes of the tasks that the changes may change. */
export function listTaskIndexes(changes: readonly Change[]): ReadonlySet<number> {
  const indexes = changes.flatMap((change) => {
    if (change.kind === 'task') return [change.taskIndex]
    return change.kind === 'new_task' ? [change.task.taskIndex] : []
  })
  return new Set(indexes)
}

export function applyChange(records: Records, change: Change): void {
  switch (change.kind) {
    case 'run': {
      const { set, addCompletedTasks = 0, countTasks = false } = change
      const completedTasks = records.run.completedTasks + addCompletedTasks
      const taskCount = countTasks ? records.tasks.size : records.run.taskCount
      // RUNS-W4: a start after the cancel does not change the status back.
      const stays = records.run.status === 'CANCELLING' && set.status === 'RUNNING'
      const status = stays ? 'CANCELLING' : (set.status ?? records.run.status)
      records.setsStatus ||= set.status !== undefined
      records.run = { ...records.run, ...set, status, completedTasks, taskCount }
      break
    }
    case 'new_task':
    case 'task':
      applyTaskChange(records.tasks, change)
      break
    case 'new_review': {
      const { review } = change
      if (!records.newReviews.has(review.reviewId))
        records.newReviews.set(review.reviewId, { review })
      break
    }
    case 'review':
      endReview(records, change)
      break
  }
}

/** A change of the tasks of a run. */
export type TaskChange = Extract<Change, { kind: 'task' | 'new_task' }>

export function isTaskChange(change: Change): change is TaskChange {
  return change.kind === 'task' || change.kind === 'new_task'
}

/** Applies a change to the tasks of a run, which are stored by index. */
export function applyTaskChange(
  tasks: Pick<ChangeableTasks, 'get' | 'has' | 'set'>,
  change: TaskChange,
): void {
  if (change.kind === 'task') {
    const row = tasks.get(change.taskIndex)
    if (row !== undefined) tasks.set(change.taskIndex, changeTask(row, change))
    return
  }
  const { taskIndex, name, description, agentRole } = change.task
  if (tasks.has(taskIndex)) return
  tasks.set(taskIndex, { taskIndex, name, description, agentRole, ...NOT_BEGUN })
}

function endReview(
  { newReviews, endedReviews }: Records,
  { reviewId, status, decidedBy, eventId }: Extract<Change, { kind: 'review' }>,
): void {
  const end: StoredReviewEnd = { status, decidedBy, eventId }
  const row = newReviews.get(reviewId)
  if (row?.end === undefined && row !== undefined) newReviews.set(reviewId, { ...row, end })
  // A review of an earlier write may have the same id; then the new review is not stored.
  if (!endedReviews.has(reviewId)) endedReviews.set(reviewId, end)
}

function changeTask(row: StoredTask, change: Extract<Change, { kind: 'task' }>): StoredTask {
  const { set, addToolCalls = 0, newAttempt = false } = change
  const before = newAttempt ? { ...row, ...toEarlier(sumTaskUsage(row)), ...NOTHING_USED } : row
  const toolCallCount = (set.toolCallCount ?? before.toolCallCount) + addToolCalls
  return { ...before, ...set, toolCallCount }
}

function toEarlier({ inputTokens, outputTokens, toolCallCount, costUsd }: StoredUsage) {
  return {
    earlierInputTokens: inputTokens,
    earlierOutputTokens: outputTokens,
    earlierToolCallCount: toolCallCount,
    earlierCostUsd: costUsd,
  }
}
