/** Pure: converts records to columns, one array each, in the order of `write-sql.ts`. */
import { MOST_LOSSES_AFTER_STEP } from '../execution/suspects.ts'
import { toColumn } from './text.ts'

import type { Records, StoredReviewEnd, StoredReview } from './apply-changes.ts'
import type { AcceptedWrite } from './decide-write.ts'
import type { PostgresTaskRow, StoredUsage } from './rows.ts'

/** A write with the records of its run after it. */
export interface StoredWrite {
  readonly write: AcceptedWrite
  readonly records: Records
  readonly hasEnded: boolean
}

/** Converts rows to columns. */
export function transposeRows<T>(
  rows: readonly T[],
  toValues: (row: T) => readonly unknown[],
): readonly (readonly unknown[])[] {
  const values = rows.map(toValues)
  return (values[0] ?? []).map((_, column) => values.map((row) => row[column]))
}

/** Returns the column values of a run after a write. */
export function runColumns({ write, records: { run }, hasEnded }: StoredWrite): readonly unknown[] {
  const { row, events, steps, writeNo, wakes } = write
  return [
    row.id,
    run.status,
    run.startedAt,
    run.completedAt,
    run.durationMs,
    optional(run.error),
    run.taskCount,
    run.completedTasks,
    run.lastSeq + events.length,
    row.nextStep + (hasEnded ? 0 : steps.length),
    writeNo,
    steps.length > 0 ? lossesAfterStep(row) : row.lostOwners,
    hasEnded ? 'ended' : wakes ? 'ready' : row.state,
  ]
}

/** Returns the losses of a run after a step; see `../execution/suspects.ts`. */
function lossesAfterStep({ state, isSettled, lostOwners }: StoredWrite['write']['row']): number {
  return isSettled || state !== 'owned' ? 0 : Math.min(lostOwners, MOST_LOSSES_AFTER_STEP)
}

/** Returns the column values of a task. */
export function taskColumns({
  run,
  row: { task, used, earlier },
}: {
  readonly run: string
  readonly row: PostgresTaskRow
}): readonly unknown[] {
  return [
    run,
    task.taskIndex,
    toColumn(task.name),
    toColumn(task.description),
    toColumn(task.agentRole),
    task.status,
    task.attempt,
    task.startedAt,
    task.completedAt,
    task.durationMs,
    ...usedColumns(used),
    ...usedColumns(earlier),
    optional(task.output),
    optional(task.error),
    task.finishReason ?? null,
  ]
}

/** Returns the column values of an opened review. */
export function reviewColumns({
  run,
  row: { review, end },
}: {
  readonly run: string
  readonly row: StoredReview
}): readonly unknown[] {
  return [
    run,
    toColumn(review.reviewId),
    end?.status ?? 'OPEN',
    JSON.stringify(review.request),
    review.openedAt,
    review.expiresAt,
    optional(end?.decidedBy ?? undefined),
  ]
}

/** Returns the column values of an ended review. */
export function endedColumns({
  run,
  reviewId,
  end,
}: {
  readonly run: string
  readonly reviewId: string
  readonly end: StoredReviewEnd
}): readonly unknown[] {
  return [run, toColumn(reviewId), end.status, optional(end.decidedBy ?? undefined)]
}

function usedColumns(used: StoredUsage): readonly unknown[] {
  return [used.inputTokens, used.outputTokens, used.toolCallCount, used.costUsd]
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text)
}
