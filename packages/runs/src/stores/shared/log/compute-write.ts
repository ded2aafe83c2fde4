/** Pure: computes the rows that a write stores from what is known of its run. Fields are those of `table-columns.ts`. */
import { applyChange, listTaskIndexes, type Records } from '../../../log/apply-changes.ts'
import { erasePrompts } from '../../../log/erase-prompts.ts'
import { endsRun } from '../../../log/prepared-write.ts'
import { toAddress } from '../schema/event-address.ts'
import { ChangedTasks } from './changed-tasks.ts'

import type { NewReview } from '../../../domain/change.ts'
import type { RequestedRun } from '../../../domain/run-record.ts'
import type { StoredTask } from '../../../log/stored-task.ts'
import type { RowId, RunRow } from '../read-records.ts'
import type { AcceptedWrite } from './decide-write.ts'
import type { KnownRun } from './owned-runs.ts'

/** A write that was accepted because of what is known of its run. */
export interface KnownWrite {
  readonly known: KnownRun
  readonly write: AcceptedWrite
}

/** A write, with the records of its run after it. */
export interface ComputedWrite extends KnownWrite {
  readonly records: Records
  readonly hasEnded: boolean
  /** The run after the write. Only a write under a claim may be followed by one that is known to be the next. */
  readonly after: KnownRun
  /** The tasks that the write changes. */
  readonly changedTasks: readonly StoredTask[]
}

/** Applies the changes of all events. */
export function computeWrite({ known, write }: KnownWrite): ComputedWrite {
  const { row, prepared, writeNo, wakes } = write
  const { events, steps, changes } = prepared
  const records: Records = {
    run: { ...row.run, status: write.status },
    setsStatus: false,
    tasks: ChangedTasks.from(known.tasks),
    newReviews: new Map(),
    endedReviews: new Map(),
  }
  for (const change of changes) applyChange(records, change)
  const hasEnded = endsRun(prepared)
  const after = {
    row: {
      ...row,
      run: { ...records.run, lastSeq: row.run.lastSeq + events.length },
      state: hasEnded ? 'ended' : wakes ? 'ready' : row.state,
      nextStep: row.nextStep + steps.length,
      writeNo,
    },
    tasks: records.tasks,
  } as const
  return {
    known,
    write,
    records,
    hasEnded,
    after,
    changedTasks: [...listTaskIndexes(changes)].flatMap((index) => records.tasks.get(index) ?? []),
  }
}

/** Returns the values of `RUN_CHANGE_COLUMNS` after the write. */
export function toRunChanges({ after: { row }, hasEnded, records }: ComputedWrite) {
  const { run, writeNo, state } = row
  return { ...run, writeNo, state, costUsd: hasEnded ? sumCost([...records.tasks.values()]) : null }
}

/** Returns the cost of a run; an unknown cost counts as 0. */
function sumCost(tasks: readonly StoredTask[]): number | null {
  if (tasks.length === 0) return null
  return tasks.reduce(
    (sum, { costUsd, earlierCostUsd }) => sum + (costUsd ?? 0) + (earlierCostUsd ?? 0),
    0,
  )
}

/** Returns the request of a run that ends without its prompts (RUNS-J3); undefined if it stays as it is. */
export function findErasedRequest({ records, hasEnded }: ComputedWrite): RequestedRun | undefined {
  return hasEnded ? erasePrompts(records.run.request) : undefined
}

export function listEvents({ write: { row, prepared } }: ComputedWrite) {
  const { id: run } = row
  const first = row.run.lastSeq + 1
  return prepared.events.map(({ type, data, bytes }, index) => {
    return { run, seq: first + index, type, data, bytes }
  })
}

export function listSteps({ write: { row, prepared } }: ComputedWrite) {
  const { id: run } = row
  const first = row.run.lastSeq + 1
  return prepared.steps.map(({ event, data, bytes }, index) => {
    return { run, n: row.nextStep + index, seq: first + event, data, bytes }
  })
}

/** Returns the tasks to store. */
export function listTaskRows({ write, changedTasks }: ComputedWrite) {
  return changedTasks.map((task) => ({ run: write.row.id, ...task }))
}

/** Returns the reviews that open. The end of their run withdraws them. */
export function listOpened({ write, records, hasEnded }: ComputedWrite) {
  return [...records.newReviews.values()].map(({ review, end }) => ({
    ...review,
    run: write.row.id,
    kind: review.request.kind,
    status: end?.status ?? (hasEnded ? 'WITHDRAWN' : 'OPEN'),
    decidedBy: end?.decidedBy,
    waitsFor: listAddresses(review.request),
  }))
}

/** Returns the addresses of the events that a review waits for; undefined if there are none. */
function listAddresses({ waitsFor = [] }: NewReview['request']): readonly string[] | undefined {
  return waitsFor.length === 0 ? undefined : waitsFor.map(toAddress)
}

/** Returns the reviews that close. One that opens with the same write is in both lists. */
export function listClosed({ write, records }: ComputedWrite) {
  return [...records.endedReviews].map(([reviewId, end]) => {
    return { run: write.row.id, reviewId, ...end }
  })
}

export function listAnswers({ write }: ComputedWrite) {
  return write.prepared.answers.map((answer) => ({ run: write.row.id, ...answer }))
}

/** Returns a delivery for each webhook of a run and each delivered event (RUNS-O1). */
export function listDeliveries({ write: { row, prepared } }: ComputedWrite) {
  return prepared.events.flatMap(({ isDelivered }, index) =>
    isDelivered ? toDeliveries(row, index) : [],
  )
}

/** Returns the deliveries of the event with that index in the write. */
function toDeliveries(
  { id: run, run: { lastSeq, webhooks = [] } }: RunRow,
  index: number,
): readonly { readonly run: RowId; readonly seq: number; readonly webhook: string }[] {
  return [...new Set(webhooks)].map((webhook) => ({ run, seq: lastSeq + 1 + index, webhook }))
}
