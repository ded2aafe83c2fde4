/**
 * Stores writes of several runs with all their effects, in a few statements for all of them.
 * The caller holds a transaction in which the rows of the runs are locked, so records may be read, changed in memory
 * and written back.
 */
import { toRecordChanges, type Change } from '../commit/changes.ts'
import { isDelivered } from '../record-fields.ts'
import { runCompleted } from '../refusals.ts'
import { ALL_RUNS } from './event-log.ts'
import { applyChange, listTaskIndexes, type Records } from './apply-changes.ts'
import { toTaskRow, type PostgresRunRow, type PostgresTaskRow } from './rows.ts'
import { toColumn } from './text.ts'
import {
  transposeRows,
  endedColumns,
  reviewColumns,
  runColumns,
  taskColumns,
  type StoredWrite,
} from './write-columns.ts'
import { writeSql, type WriteSql } from './write-sql.ts'

import type { DatabaseSession, PostgresRow } from './database.ts'
import type { AcceptedWrite } from './decide-write.ts'
import type { AddressedNotification } from './notification-sender.ts'
import type { SentNotification } from './notifications.ts'

/** Channels of notifications. */
export interface NotificationChannels {
  /** The channel of this process. */
  readonly own: string
  /** The channel on which every process listens. */
  readonly shared: string
}

/** Stores writes; returns the notifications of this and of other processes to send when they are committed. */
export async function storeWrites(
  session: DatabaseSession,
  writes: readonly AcceptedWrite[],
  channels: NotificationChannels,
): Promise<readonly AddressedNotification[]> {
  if (writes.length === 0) return []
  const sql = writeSql(session.schema)
  const stored = await computeRecords(session, writes, sql)
  await storeTasks(session, stored, sql)
  await storeReviews(session, stored, sql)
  const answers = await storeAnswers(session, stored, sql)
  const hasDeliveries = await storeDeliveries(session, stored, sql)
  const ended = filterEnded(stored)
  if (ended.length > 0) {
    await session.query(sql.deleteSteps, [ended.map(({ write }) => write.row.id)])
  }
  const followers = await session.query(sql.append, [
    ...eventColumns(stored),
    ...stepColumns(stored),
    ...transposeRows(stored, runColumns),
  ])
  return [
    ...toEventNotifications(stored, followers),
    ...answers.map((row) => toAnswerNotification(row, channels)),
    ...(hasDeliveries
      ? [{ channel: channels.own, notification: { kind: 'delivery' } } as const]
      : []),
    ...(stored.some(({ write, hasEnded }) => write.wakes && !hasEnded) ? toReady(channels) : []),
  ]
}

/** Reads the tasks that the writes change, and applies the changes of all events. */
async function computeRecords(
  session: DatabaseSession,
  writes: readonly AcceptedWrite[],
  sql: WriteSql,
): Promise<readonly StoredWrite[]> {
  const changing = writes.map((write) => ({
    write,
    changes: write.events.flatMap(toRecordChanges),
  }))
  const tasks = await readTasks(session, changing, sql)
  const totals = await readTotals(session, changing, sql)
  return changing.map(({ write, changes }) => {
    const records: Records = {
      run: { ...write.row.run, status: write.status },
      tasks: tasks.get(write.row.id) ?? new Map<number, PostgresTaskRow>(),
      taskTotal: totals.get(write.row.id) ?? 0,
      newReviews: new Map(),
      endedReviews: new Map(),
    }
    for (const change of changes) applyChange(records, change)
    return { write, records, hasEnded: write.events.some(({ type }) => type === 'run_result') }
  })
}

interface Changing {
  readonly write: AcceptedWrite
  readonly changes: readonly Change[]
}

async function readTasks(
  session: DatabaseSession,
  changing: readonly Changing[],
  sql: WriteSql,
): Promise<ReadonlyMap<string, Map<number, PostgresTaskRow>>> {
  const wanted = changing.flatMap(({ write, changes }) =>
    [...listTaskIndexes(changes)].map((taskIndex) => ({ run: write.row.id, taskIndex })),
  )
  const byRun = new Map<string, Map<number, PostgresTaskRow>>()
  if (wanted.length === 0) return byRun
  const rows = await session.query(sql.readTasks, [
    wanted.map(({ run }) => run),
    wanted.map(({ taskIndex }) => taskIndex),
  ])
  for (const row of rows) {
    const run = String(row['run'])
    const tasks = byRun.get(run) ?? new Map<number, PostgresTaskRow>()
    byRun.set(run, tasks.set(Number(row['task_index']), toTaskRow(row)))
  }
  return byRun
}

/** Counts the tasks of the runs that get new ones. */
async function readTotals(
  session: DatabaseSession,
  changing: readonly Changing[],
  sql: WriteSql,
): Promise<ReadonlyMap<string, number>> {
  const counting = changing.filter(({ changes }) => changes.some(({ kind }) => kind === 'new_task'))
  if (counting.length === 0) return new Map()
  const rows = await session.query(sql.countTasks, [counting.map(({ write }) => write.row.id)])
  return new Map(rows.map((row) => [String(row['run']), Number(row['total'])]))
}

async function storeTasks(
  session: DatabaseSession,
  stored: readonly StoredWrite[],
  sql: WriteSql,
): Promise<void> {
  const tasks = stored.flatMap(({ write, records }) =>
    [...records.tasks.values()].map((row) => ({ run: write.row.id, row })),
  )
  if (tasks.length > 0) await session.query(sql.upsertTasks, transposeRows(tasks, taskColumns))
}

/** Stores opened and ended reviews, then withdraws the open reviews of ended runs. */
async function storeReviews(
  session: DatabaseSession,
  stored: readonly StoredWrite[],
  sql: WriteSql,
): Promise<void> {
  const opened = stored.flatMap(({ write, records }) =>
    [...records.newReviews.values()].map((row) => ({ run: write.row.id, row })),
  )
  const ended = stored.flatMap(({ write, records }) =>
    [...records.endedReviews].map(([reviewId, end]) => ({ run: write.row.id, reviewId, end })),
  )
  // A review that opens and ends with the same write is in both lists.
  if (opened.length > 0) await session.query(sql.openReviews, transposeRows(opened, reviewColumns))
  if (ended.length > 0) await session.query(sql.endReviews, transposeRows(ended, endedColumns))
  const runs = filterEnded(stored)
  if (runs.length > 0) {
    await session.query(sql.withdrawReviews, [runs.map(({ write }) => write.row.id)])
  }
}

/** Stores the given answers, and an answer to each pending command of ended runs (RUNS-W1, RUNS-W3). */
async function storeAnswers(
  session: DatabaseSession,
  stored: readonly StoredWrite[],
  sql: WriteSql,
): Promise<readonly PostgresRow[]> {
  const given = stored.flatMap(({ write }) =>
    write.answers.map((answer) => ({ run: write.row.id, answer })),
  )
  const runs = filterEnded(stored)
  return [
    ...(given.length === 0
      ? []
      : await session.query(sql.answer, [
          given.map(({ run }) => run),
          given.map(({ answer }) => answer.commandId),
          given.map(({ answer }) => JSON.stringify(answer)),
        ])),
    ...(runs.length === 0 ? [] : await session.query(sql.answerPending, toFinalAnswers(runs))),
  ]
}

function toFinalAnswers(runs: readonly StoredWrite[]): readonly unknown[] {
  return [
    runs.map(({ write }) => write.row.id),
    runs.map(({ records: { run } }) => JSON.stringify(runCompleted(run))),
  ]
}

/** Stores a delivery for each webhook of a run and each delivered event (RUNS-O1). Returns whether there are any. */
async function storeDeliveries(
  session: DatabaseSession,
  stored: readonly StoredWrite[],
  sql: WriteSql,
): Promise<boolean> {
  const deliveries = stored.flatMap(({ write: { row, events } }) =>
    events.flatMap((event, index) => (isDelivered(event) ? toDeliveries(row, index) : [])),
  )
  if (deliveries.length === 0) return false
  await session.query(
    sql.deliver,
    transposeRows(deliveries, ({ run, seq, webhook }) => [run, seq, toColumn(webhook)]),
  )
  return true
}

/** Returns the deliveries of the event with that index in the write. */
function toDeliveries({ id, run: { lastSeq, webhooks = [] } }: PostgresRunRow, index: number) {
  return [...new Set(webhooks)].map((webhook) => ({ run: id, seq: lastSeq + 1 + index, webhook }))
}

function filterEnded(stored: readonly StoredWrite[]): readonly StoredWrite[] {
  return stored.filter(({ hasEnded }) => hasEnded)
}

function eventColumns(stored: readonly StoredWrite[]): readonly unknown[] {
  const events = stored.flatMap(({ write: { row, events: added } }) =>
    added.map((event, index) => ({ run: row.id, seq: row.run.lastSeq + 1 + index, event })),
  )
  return [
    events.map(({ run }) => run),
    events.map(({ seq }) => seq),
    events.map(({ event }) => event.type),
    events.map(({ event }) => JSON.stringify(event)),
  ]
}

/** Returns the columns of new steps; ended runs need none. */
function stepColumns(stored: readonly StoredWrite[]): readonly unknown[] {
  const steps = stored.flatMap(({ write: { row, steps: added }, hasEnded }) =>
    hasEnded ? [] : added.map((step, index) => ({ run: row.id, n: row.nextStep + index, step })),
  )
  return [
    steps.map(({ run }) => run),
    steps.map(({ n }) => n),
    steps.map(({ step }) => JSON.stringify(step)),
  ]
}

/** Returns the notifications of the followers of each run; a follower of run {@link ALL_RUNS} follows every run. */
function toEventNotifications(
  stored: readonly StoredWrite[],
  followers: readonly PostgresRow[],
): readonly AddressedNotification[] {
  return stored.flatMap(({ write: { row, events } }) => {
    if (events.length === 0) return []
    const { runId, lastSeq } = row.run
    const range = { from: lastSeq + 1, to: lastSeq + events.length }
    const notification: SentNotification = { kind: 'events', runId, ...range }
    return followers
      .filter(({ run }) => run === row.id || run === ALL_RUNS)
      .map(({ channel }) => ({ channel: String(channel), notification }))
  })
}

/** Commands that an earlier version queued name no channel. */
function toAnswerNotification(
  { signal_id: commandId, asker }: PostgresRow,
  { shared }: NotificationChannels,
): AddressedNotification {
  const channel = typeof asker === 'string' ? asker : shared
  return { channel, notification: { kind: 'answer', signalId: String(commandId) } }
}

function toReady({ own, shared }: NotificationChannels): readonly AddressedNotification[] {
  return [own, shared].map((channel) => ({ channel, notification: { kind: 'ready' } }))
}
