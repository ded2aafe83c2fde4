/**
 * Stores writes of several runs with all their effects, in one statement for all of them. The records of a run are changed
 * in memory, from what this process knows of the run, and written back on condition that it is still true.
 */
import { toClaimKey } from '../../../domain/claim-key.ts'
import { runCompleted } from '../../../domain/refusals.ts'
import {
  computeWrite,
  findErasedRequest,
  listAnswers,
  listClosed,
  listDeliveries,
  listEvents,
  listOpened,
  listSteps,
  listTaskRows,
  toRunChanges,
  type ComputedWrite,
  type KnownWrite,
} from '../../shared/log/compute-write.ts'
import { ALL_RUNS } from './event-log.ts'
import { toWriteStatement, type WriteValues } from './write-sql.ts'

import type { DatabaseSession } from '../database/database.ts'
import type { AddressedNotification, WrittenEvents } from '../../../ports/notifications.ts'
import type { KnownRun } from '../../shared/log/owned-runs.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

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
  const computed = writes.map(computeWrite)
  const { sql, parameters } = toWriteStatement(session.schema, toValues(computed))
  const rows = await session.query(sql, parameters)
  const written = new Set(rows.filter(isWritten).map(({ run }) => run))
  const stored = computed.filter(({ write }) => written.has(write.row.id))
  return {
    stored: stored.map(({ after }) => after),
    written: stored.flatMap(toWrittenEvents),
    notifications: [
      ...toEventNotifications(stored, rows),
      ...rows.filter(isAnswer).map((row) => toAnswerNotification(row)),
      ...(stored.some((write) => listDeliveries(write).length > 0) ? toDelivery(channel) : []),
    ],
    woken: stored
      .filter(({ write, hasEnded }) => write.wakes && !hasEnded)
      .map(({ write }) => toClaimKey(write.row.run)),
  }
}

function toValues(computed: readonly ComputedWrite[]): WriteValues {
  return {
    runs: computed.map(toRunValues),
    events: computed.flatMap(listEvents),
    steps: computed.flatMap(listSteps),
    tasks: computed.flatMap(listTaskRows),
    opened: computed.flatMap(listOpened),
    closed: computed.flatMap(listClosed),
    answers: computed.flatMap(listAnswers),
    deliveries: computed.flatMap(listDeliveries),
    ended: computed
      .filter(({ hasEnded }) => hasEnded)
      .map(({ write, records }) => ({
        run: write.row.id,
        error: JSON.stringify(runCompleted(records.run)),
      })),
  }
}

/** Returns the row of a run as it is known, and after the write. */
function toRunValues(computed: ComputedWrite) {
  const { write, records, hasEnded, after } = computed
  const { row, status, prepared } = write
  return {
    id: row.id,
    knownToken: row.token,
    knownWrite: row.writeNo,
    knownSeq: row.run.lastSeq,
    knownState: row.state,
    // The end answers all commands, so none may have been sent since the row was read (RUNS-W3).
    knownCommands: hasEnded ? row.commands : null,
    hasSteps: prepared.steps.length > 0,
    ...toRunChanges(computed),
    nextStep: after.row.nextStep,
    status: records.setsStatus || status !== row.run.status ? records.run.status : null,
    request: findErasedRequest(computed),
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
  stored: readonly ComputedWrite[],
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
function toWrittenEvents({ write: { row, prepared } }: ComputedWrite): readonly WrittenEvents[] {
  const { events } = prepared
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
