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

/** Stores a write of an owner. */
export function writeOwned(
  parts: SqliteParts,
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
  return decide(store, findKnown(parts, write), (row) =>
    decideWrite(row, { ...write, eventCount, prepare }),
  )
}

/** Stores a write to an unowned run. */
export function writeUnowned(
  { rows }: SqliteParts,
  store: WriteStorer,
  write: PreparedUnownedWrite,
): WriteOutcome {
  const known = rows.findKnown(write.runId)
  const outcome = decide(store, known, (row) =>
    decideUnownedWrite(row, { ...write, prepare: () => write.prepared }),
  )
  const isReady = write.next === 'ready' && outcome.stored?.after.row.state === 'ready'
  return isReady
    ? { ...outcome, notifications: [{ kind: 'ready' }, ...outcome.notifications] }
    : outcome
}

function decide(
  store: WriteStorer,
  known: KnownRun | undefined,
  toDecision: (row: RunRow | undefined) => Decision,
): WriteOutcome {
  const { result, accepted } = toDecision(known?.row)
  if (known === undefined || accepted === undefined) return { result, notifications: [] }
  const stored = store({ known, write: accepted })
  return { result, notifications: stored.notifications, stored }
}

/** Returns the run as this process left it if it is still so; commands and claims may have changed its status. */
function findKnown(
  { owned, rows, statements }: SqliteParts,
  write: Pick<RunWrite, 'runId' | 'token' | 'writeNo'>,
): KnownRun | undefined {
  const known = owned.find(write)
  if (known === undefined) return rows.findKnown(write.runId)
  const [found] = statements.run(
    `SELECT status FROM runs
     WHERE id = $1 AND token = $2 AND last_seq = $3 AND write_no = $4 AND state = $5`,
    [known.row.id, write.token, known.row.run.lastSeq, known.row.writeNo, known.row.state],
  )
  if (found === undefined) return rows.findKnown(write.runId)
  const { row, tasks } = known
  // NOTE: a cast at the boundary: this store only ever writes statuses.
  const status = found['status'] as typeof row.run.status
  return { row: { ...row, run: { ...row.run, status } }, tasks }
}
