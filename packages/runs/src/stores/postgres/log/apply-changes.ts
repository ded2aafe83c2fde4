/** Pure: applies the changes of events to the records of a run in memory. */
import { addUsed, type StoredTask, type StoredUsage } from '../../shared/read-records.ts'

import type { Change, NewReview, NewTask } from '../../../domain/change.ts'
import type { ReviewStatus, RunRecord } from '../../../domain/run-record.ts'

/** The records of a run that a write changes. */
export interface Records {
  run: RunRecord
  /** Whether a change sets the status of the run. */
  setsStatus: boolean
  /** All tasks, by index. */
  readonly tasks: Map<number, StoredTask>
  readonly newReviews: Map<string, StoredReview>
  /** Existing reviews that end. */
  readonly endedReviews: Map<string, StoredReviewEnd>
}

export interface StoredReviewEnd {
  readonly status: Exclude<ReviewStatus, 'OPEN'>
  readonly decidedBy: string | null
}

/** A review that opens with a write, and may end with the same. */
export interface StoredReview {
  readonly review: NewReview
  readonly end?: StoredReviewEnd
}

const NOTHING_USED: StoredUsage = { inputTokens: 0, outputTokens: 0, toolCallCount: 0, costUsd: 0 }

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
      if (records.tasks.has(change.task.taskIndex)) break
      records.tasks.set(change.task.taskIndex, newTaskRow(change.task))
      break
    case 'task': {
      const row = records.tasks.get(change.taskIndex)
      if (row !== undefined) records.tasks.set(change.taskIndex, changeTask(row, change))
      break
    }
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

function endReview(
  { newReviews, endedReviews }: Records,
  { reviewId, status, decidedBy }: Extract<Change, { kind: 'review' }>,
): void {
  const end: StoredReviewEnd = { status, decidedBy: decidedBy ?? null }
  const row = newReviews.get(reviewId)
  if (row?.end === undefined && row !== undefined) newReviews.set(reviewId, { ...row, end })
  // A review of an earlier write may have the same id; then the new review is not stored.
  if (!endedReviews.has(reviewId)) endedReviews.set(reviewId, end)
}

function newTaskRow({ taskIndex, name, description, agentRole }: NewTask): StoredTask {
  return {
    task: { taskIndex, name, description, agentRole, status: 'PENDING', attempt: 0 },
    used: NOTHING_USED,
    earlier: NOTHING_USED,
  }
}

function changeTask(row: StoredTask, change: Extract<Change, { kind: 'task' }>): StoredTask {
  const { set, addToolCalls = 0, newAttempt = false } = change
  const { inputTokens, outputTokens, toolCallCount, costUsd, ...fields } = set
  const before = newAttempt ? NOTHING_USED : row.used
  return {
    task: withFields(row.task, fields),
    earlier: newAttempt ? addUsed(row.earlier, row.used) : row.earlier,
    used: {
      inputTokens: inputTokens ?? before.inputTokens,
      outputTokens: outputTokens ?? before.outputTokens,
      toolCallCount: (toolCallCount ?? before.toolCallCount) + addToolCalls,
      costUsd: costUsd === undefined ? before.costUsd : costUsd,
    },
  }
}

/** Sets fields of a task; null removes the value of an optional field. */
function withFields(task: StoredTask['task'], fields: object): StoredTask['task'] {
  const values = Object.entries({ ...task, ...fields }).filter(([, value]) => value !== null)
  // NOTE: only optional fields are ever null (`TaskChangeFields`), so the required ones are present.
  return Object.fromEntries(values) as unknown as StoredTask['task']
}
