/** Pure: converts records to columns, one array each, in the order of `write-sql.ts`. */
import { erasePrompts } from '../../../log/erase-prompts.ts'
import { toColumn } from '../database/text.ts'

import type { Records, StoredReviewEnd, StoredReview } from './apply-changes.ts'
import type { EncodedWrite } from '../../../log/stored-values.ts'
import type { AcceptedWrite } from './decide-write.ts'
import type { StoredTask, StoredUsage } from '../../shared/read-records.ts'

/** A write with the records of its run after it. */
export interface StoredWrite {
  readonly write: AcceptedWrite
  /** Its events and its new steps. */
  readonly encoded: EncodedWrite
  readonly records: Records
  /** Indexes of the tasks that the write changes. */
  readonly changedTasks: ReadonlySet<number>
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

/** Returns the column values of a run: its row as it is known, and after the write. */
export function runColumns({ write, records, hasEnded }: StoredWrite): readonly unknown[] {
  const { row, events, steps, writeNo, wakes } = write
  const { run } = records
  const erased = hasEnded ? erasePrompts(run.request) : undefined
  return [
    row.id,
    row.token,
    row.writeNo,
    row.run.lastSeq,
    row.state,
    // The end answers all commands, so none may have been sent since the row was read (RUNS-W3).
    hasEnded ? row.commands : null,
    records.setsStatus || write.status !== row.run.status ? run.status : null,
    run.startedAt,
    run.completedAt,
    run.durationMs,
    optional(run.error),
    optional(run.outputTask),
    run.taskCount,
    run.completedTasks,
    run.lastSeq + events.length,
    row.nextStep + steps.length,
    writeNo,
    hasEnded ? 'ended' : wakes ? 'ready' : row.state,
    steps.length > 0,
    hasEnded ? sumCost([...records.tasks.values()]) : null,
    erased === undefined ? null : JSON.stringify(erased),
  ]
}

/** Returns the cost of a run; an unknown cost counts as 0. */
function sumCost(tasks: readonly StoredTask[]): number | null {
  if (tasks.length === 0) return null
  return tasks.reduce(
    (sum, { used, earlier }) => sum + (used.costUsd ?? 0) + (earlier.costUsd ?? 0),
    0,
  )
}

/** Returns the column values of a task. */
export function taskColumns({
  run,
  row: { task, used, earlier },
}: {
  readonly run: string
  readonly row: StoredTask
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

/** Returns the column values of an opened review. The end of its run withdraws it. */
export function reviewColumns({
  run,
  row: { review, end },
  hasEnded,
}: {
  readonly run: string
  readonly row: StoredReview
  readonly hasEnded: boolean
}): readonly unknown[] {
  return [
    run,
    toColumn(review.reviewId),
    review.request.kind,
    end?.status ?? (hasEnded ? 'WITHDRAWN' : 'OPEN'),
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
