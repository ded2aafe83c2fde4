/**
 * Stores writes of several runs with all their effects, in one statement for all of them. The records of a run are changed
 * in memory, from what this process knows of the run, and written back on condition that it is still true.
 */
import { toClaimKey } from '../../../domain/claim-key.ts'
import { toRecordChanges } from '../../../log/changes.ts'
import { encodeWrite } from '../../../log/stored-values.ts'
import { isDelivered } from '../../shared/record-fields.ts'
import { runCompleted } from '../../../domain/refusals.ts'
import { ALL_RUNS } from './event-log.ts'
import { applyChange, listTaskIndexes, type Records } from './apply-changes.ts'
import { toColumn } from '../database/text.ts'
import {
  transposeRows,
  endedColumns,
  reviewColumns,
  runColumns,
  taskColumns,
  type StoredWrite,
} from './write-columns.ts'
import { toWriteStatement, type WriteValues } from './write-sql.ts'

import type { DatabaseSession } from '../database/database.ts'
import type { AcceptedWrite } from './decide-write.ts'
import type { AddressedNotification, WrittenEvents } from '../../../ports/notifications.ts'
import type { KnownRun } from '../rows/owned-runs.ts'
import type { PostgresRunRow } from '../rows/rows.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** A write that was accepted because of what is known of its run. */
export interface KnownWrite {
  readonly known: KnownRun
  readonly write: AcceptedWrite
}

/** The effect of {@link storeWrites}. */
export interface StoredWrites {
  /** The runs that were written, as they are now. The others are not as they were known, and unchanged. */
  readonly stored: readonly KnownRun[]
  /** The new events of these runs. */
  readonly written: readonly WrittenEvents[]
  /** Notifications of this and of other processes. */
  readonly notifications: readonly AddressedNotification[]
  /** The ensemble of each run that became ready. */
  readonly woken: readonly string[]
}

/** Stores writes to runs that are still as they are known. `channel` is that of this process. */
export async function storeWrites(
  session: DatabaseSession,
  writes: readonly KnownWrite[],
  channel: string,
): Promise<StoredWrites> {
  if (writes.length === 0) return { stored: [], written: [], notifications: [], woken: [] }
  const computed = writes.map(computeRecords)
  const { sql, parameters } = toWriteStatement(session.schema, toValues(computed))
  const rows = await session.query(sql, parameters)
  const written = new Set(rows.filter(isWritten).map(({ run }) => String(run)))
  const stored = computed.filter(({ write }) => written.has(write.row.id))
  return {
    stored: stored.map(toKnownRun),
    written: stored.flatMap(toWrittenEvents),
    notifications: [
      ...toEventNotifications(stored, rows),
      ...rows.filter(isAnswer).map((row) => toAnswerNotification(row)),
      ...(stored.some(hasDelivery) ? toDelivery(channel) : []),
    ],
    woken: stored
      .filter(({ write, hasEnded }) => write.wakes && !hasEnded)
      .map(({ write }) => toClaimKey(write.row.run)),
  }
}

/** Applies the changes of all events. */
function computeRecords({ known, write }: KnownWrite): StoredWrite {
  const changes = [...(write.changes ?? []), ...write.events.flatMap(toRecordChanges)]
  const records: Records = {
    run: { ...write.row.run, status: write.status },
    setsStatus: false,
    tasks: new Map(known.tasks),
    newReviews: new Map(),
    endedReviews: new Map(),
  }
  for (const change of changes) applyChange(records, change)
  const hasEnded = write.events.some(({ type }) => type === 'run_result')
  const encoded = encodeWrite(write, write.row.run.lastSeq)
  return { write, encoded, records, changedTasks: listTaskIndexes(changes), hasEnded }
}

function toValues(computed: readonly StoredWrite[]): WriteValues {
  const ended = computed.filter(({ hasEnded }) => hasEnded)
  return {
    runs: transposeRows(computed, runColumns),
    events: eventColumns(computed),
    steps: stepColumns(computed),
    tasks: transposeRows(computed.flatMap(listChangedTasks), taskColumns),
    opened: transposeRows(computed.flatMap(listOpened), reviewColumns),
    closed: transposeRows(computed.flatMap(listClosed), endedColumns),
    answers: transposeRows(computed.flatMap(listAnswers), ({ run, answer }) => [
      run,
      answer.commandId,
      JSON.stringify(answer),
    ]),
    deliveries: transposeRows(computed.flatMap(listDeliveries), ({ run, seq, webhook }) => [
      run,
      seq,
      toColumn(webhook),
    ]),
    ended: transposeRows(ended, ({ write, records }) => [
      write.row.id,
      JSON.stringify(runCompleted(records.run)),
    ]),
  }
}

function listChangedTasks({ write, records, changedTasks }: StoredWrite) {
  return [...changedTasks].flatMap((taskIndex) => {
    const row = records.tasks.get(taskIndex)
    return row === undefined ? [] : [{ run: write.row.id, row }]
  })
}

function listOpened({ write, records, hasEnded }: StoredWrite) {
  return [...records.newReviews.values()].map((row) => ({ run: write.row.id, row, hasEnded }))
}

/** A review that opens and closes with the same write is in both lists. */
function listClosed({ write, records }: StoredWrite) {
  return [...records.endedReviews].map(([reviewId, end]) => ({ run: write.row.id, reviewId, end }))
}

function listAnswers({ write }: StoredWrite) {
  return write.answers.map((answer) => ({ run: write.row.id, answer }))
}

/** Returns a delivery for each webhook of a run and each delivered event (RUNS-O1). */
function listDeliveries({ write: { row, events } }: StoredWrite) {
  return events.flatMap((event, index) => (isDelivered(event) ? toDeliveries(row, index) : []))
}

/** Returns the deliveries of the event with that index in the write. */
function toDeliveries({ id, run: { lastSeq, webhooks = [] } }: PostgresRunRow, index: number) {
  return [...new Set(webhooks)].map((webhook) => ({ run: id, seq: lastSeq + 1 + index, webhook }))
}

function hasDelivery(stored: StoredWrite): boolean {
  return listDeliveries(stored).length > 0
}

function eventColumns(computed: readonly StoredWrite[]): readonly (readonly unknown[])[] {
  const events = computed.flatMap(({ write: { row }, encoded }) =>
    encoded.events.map((event, index) => ({
      ...event,
      run: row.id,
      seq: row.run.lastSeq + 1 + index,
    })),
  )
  return [
    events.map(({ run }) => run),
    events.map(({ seq }) => seq),
    events.map(({ event }) => event.type),
    events.map(({ data }) => data),
    events.map(({ bytes }) => bytes),
  ]
}

function stepColumns(computed: readonly StoredWrite[]): readonly (readonly unknown[])[] {
  const steps = computed.flatMap(({ write: { row }, encoded }) =>
    encoded.steps.map((step, index) => ({ ...step, run: row.id, n: row.nextStep + index })),
  )
  return [
    steps.map(({ run }) => run),
    steps.map(({ n }) => n),
    steps.map(({ seq }) => seq),
    steps.map(({ data }) => data),
    steps.map(({ bytes }) => bytes),
  ]
}

/** Returns a run as a write left it. Only a write under a claim may be followed by one that is known to be the next. */
function toKnownRun({ write, records, hasEnded }: StoredWrite): KnownRun {
  const { row, events, steps, writeNo, wakes } = write
  return {
    row: {
      ...row,
      run: { ...records.run, lastSeq: records.run.lastSeq + events.length },
      state: hasEnded ? 'ended' : wakes ? 'ready' : row.state,
      nextStep: row.nextStep + steps.length,
      writeNo,
    },
    tasks: records.tasks,
  }
}

/** A row is a written run, a follower of a run, or an answer. */
function isWritten({ run, channel }: StoredRow): boolean {
  return run !== null && channel === null
}

function isFollower({ run, channel }: StoredRow): boolean {
  return run !== null && channel !== null
}

function isAnswer({ command_id: commandId }: StoredRow): boolean {
  return commandId !== null
}

/** Returns the notifications of the followers of each run; a follower of run {@link ALL_RUNS} follows every run. */
function toEventNotifications(
  stored: readonly StoredWrite[],
  rows: readonly StoredRow[],
): readonly AddressedNotification[] {
  const followers = rows.filter(isFollower)
  return stored.flatMap((write) =>
    toWrittenEvents(write).flatMap((notification) =>
      followers
        .filter(({ run }) => run === write.write.row.id || run === ALL_RUNS)
        .map(({ channel }) => ({ channel: String(channel), notification })),
    ),
  )
}

/** Returns the range of the events of a write; none if it has no events. */
function toWrittenEvents({ write: { row, events } }: StoredWrite): readonly WrittenEvents[] {
  if (events.length === 0) return []
  const { runId, lastSeq } = row.run
  return [{ kind: 'events', runId, from: lastSeq + 1, to: lastSeq + events.length }]
}

function toAnswerNotification({
  command_id: commandId,
  channel,
}: StoredRow): AddressedNotification {
  return {
    channel: String(channel),
    notification: { kind: 'answer', commandId: String(commandId) },
  }
}

function toDelivery(channel: string): readonly AddressedNotification[] {
  return [{ channel, notification: { kind: 'delivery' } }]
}
