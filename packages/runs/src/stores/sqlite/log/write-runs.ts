/** Writes to owned and unowned runs. The caller holds a transaction. */
import { decideUnownedWrite, decideWrite, type Decision } from '../../shared/log/decide-write.ts'

import type { StoreNotification } from '../../../ports/notifications.ts'
import type { UnownedWrite, RunWrite, WriteResult } from '../../../ports/run-store.ts'
import type { KnownRun } from '../../shared/log/owned-runs.ts'
import type { RunRow } from '../../shared/read-records.ts'
import type { SqliteParts } from '../rows/parts.ts'
import type { StoredWrite, WriteStorer } from './store-write.ts'

/** The result of a write, and its effect if it was stored. */
export interface WriteOutcome {
  readonly result: WriteResult
  /** Notifications to send when it is committed. */
  readonly notifications: readonly StoreNotification[]
  readonly stored?: StoredWrite
}

/** Stores a write of an owner. */
export function writeOwned(parts: SqliteParts, store: WriteStorer, write: RunWrite): WriteOutcome {
  return decide(store, findKnown(parts, write), (row) => decideWrite(row, write))
}

/** Stores a write to an unowned run. */
export function writeUnowned(
  { rows }: SqliteParts,
  store: WriteStorer,
  write: UnownedWrite,
): WriteOutcome {
  const known = rows.findKnown(write.runId)
  const outcome = decide(store, known, (row) => decideUnownedWrite(row, write))
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
  write: RunWrite,
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
