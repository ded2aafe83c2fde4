/** Writes to owned and unowned runs. The caller holds a transaction. */
import { decideUnownedWrite, decideWrite, type Decision } from '../../shared/log/decide-write.ts'

import type { StoreNotification } from '../../../ports/notifications.ts'
import type { PreparedWrite, WrittenFrom } from '../../../log/prepared-write.ts'
import type { RunWrite, UnownedWrite, WriteResult } from '../../../ports/run-store.ts'
import type { KnownRun } from '../../shared/log/owned-runs.ts'
import type { RunRow } from '../../shared/read-records.ts'
import type { SqliteParts } from '../rows/parts.ts'
import type { StoredWrite, WriteStorer } from './store-write.ts'

/** A write of an owner as the thread of the store gets it. */
export interface PreparedRunWrite extends Pick<RunWrite, 'runId' | 'token' | 'writeNo'> {
  /** The event that it was prepared to follow; undefined for a write that refers to no event. */
  readonly lastSeq: number | undefined
  readonly prepared: PreparedWrite
}

/** A write to an unowned run as the thread of the store gets it. */
export interface PreparedUnownedWrite extends Pick<
  UnownedWrite,
  'runId' | 'token' | 'lastSeq' | 'next'
> {
  readonly prepared: PreparedWrite
}

/** The outcome of a write, without its events. */
export type SqliteWriteResult = WrittenFrom | Exclude<WriteResult, { kind: 'written' }>

/** The result of a write, and its effect if it was stored. */
export interface WriteOutcome {
  readonly result: SqliteWriteResult
  /** Notifications to send when it is committed. */
  readonly notifications: readonly StoreNotification[]
  readonly stored?: StoredWrite
}

/** Stores a write of an owner. A run that is as its last write left it is not read. */
export function writeOwned(
  { owned, rows }: SqliteParts,
  store: WriteStorer,
  { prepared, lastSeq: expected, ...write }: PreparedRunWrite,
): WriteOutcome {
  const prepare = (lastSeq: number): PreparedWrite => {
    if (expected === undefined || expected === lastSeq) return prepared
    throw new TypeError(
      `The write follows event ${expected}, but the newest event of run ${write.runId} is ${lastSeq}`,
    )
  }
  const eventCount = prepared.events.length
  return decide(
    { store, read: () => rows.findKnown(write.runId), remembered: owned.find(write) },
    (row) => decideWrite(row, { ...write, eventCount, prepare }),
  )
}

/** Stores a write to an unowned run. */
export function writeUnowned(
  { rows }: SqliteParts,
  store: WriteStorer,
  write: PreparedUnownedWrite,
): WriteOutcome {
  const outcome = decide({ store, read: () => rows.findKnown(write.runId) }, (row) =>
    decideUnownedWrite(row, { ...write, prepare: () => write.prepared }),
  )
  const isReady = write.next === 'ready' && outcome.stored?.after.row.state === 'ready'
  return isReady
    ? { ...outcome, notifications: [{ kind: 'ready' }, ...outcome.notifications] }
    : outcome
}

interface DecidingParts {
  readonly store: WriteStorer
  /** Reads the run. */
  readonly read: () => KnownRun | undefined
  /** The run as its last write left it. */
  readonly remembered?: KnownRun | undefined
}

function decide(
  { store, read, remembered }: DecidingParts,
  toDecision: (row: RunRow | undefined) => Decision,
): WriteOutcome {
  const known = remembered ?? read()
  const { result, accepted } = toDecision(known?.row)
  if (known === undefined || accepted === undefined) return { result, notifications: [] }
  const stored = store({ known, write: accepted, isRead: remembered === undefined })
  if (stored === undefined) return decide({ store, read }, toDecision)
  return { result, notifications: stored.notifications, stored }
}
