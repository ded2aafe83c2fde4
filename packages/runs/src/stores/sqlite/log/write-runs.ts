/** Writes to owned and unowned runs. The caller holds a transaction. */
import { toLoggedEvent } from '../../../log/serialize-once.ts'
import { MAX_LOSSES_AFTER_STEP, SETTLED_AFTER_MS } from '../../../domain/suspects.ts'
import { prepareEventAppender, type Addition, type Appended } from './append-events.ts'
import { NEW_TOKEN, type QueueState } from '../rows/run-rows.ts'

import type { Assignment } from './apply-changes.ts'
import type { StoreNotification } from '../../../ports/notifications.ts'
import type { UnownedWrite, RunWrite, WriteResult } from '../../../ports/run-store.ts'
import type { SqliteParts } from '../rows/parts.ts'

/** The result of a write, and the notifications to send when it is committed. */
export interface WriteOutcome {
  readonly result: WriteResult
  readonly notifications: readonly StoreNotification[]
  /** See {@link Appended}. */
  readonly hasErased: boolean
}

const FENCED: WriteOutcome = {
  result: { kind: 'fenced' },
  notifications: [],
  hasErased: false,
}

/** The writes of an embedded store. */
export interface RunWriter {
  append(addition: Addition): Appended
  write(write: RunWrite): WriteOutcome
  writeUnowned(write: UnownedWrite): WriteOutcome
}

/** Prepares the writes. */
export function prepareRunWriter({
  database,
  clock,
}: Pick<SqliteParts, 'database' | 'clock'>): RunWriter {
  const append = prepareEventAppender(database, clock)
  const findPosition = preparePositionReader(database)
  const makeReady = database.prepare(
    `UPDATE runs SET state = 'ready', due_at = ?,
       status = CASE status WHEN 'WAITING_REVIEW' THEN 'RUNNING' ELSE status END
     WHERE id = ? AND state = 'parked'`,
  )
  return {
    append,
    write(write) {
      const { runId, token, writeNo, events } = write
      const run = findPosition(runId)
      if (run === undefined || run.token !== token) return FENCED
      if (isRepeated(run, writeNo)) {
        const first = run.lastSeq + 1 - events.length
        return toOutcome({
          events: events.map((event, at) => toLoggedEvent(runId, first + at, event)),
        })
      }
      if (run.state !== 'owned' || writeNo !== run.writeNo + 1) return FENCED
      const assignments: readonly Assignment[] = [
        ['last_seq = ?', run.lastSeq + events.length],
        ['write_no = ?', writeNo],
        ...(write.steps.length === 0
          ? []
          : [[FORGIVE_LOSSES, clock.now() - SETTLED_AFTER_MS] as const]),
      ]
      return toOutcome(append({ ...write, ...run, assignments }))
    },
    writeUnowned(write) {
      const { runId, token, lastSeq, events } = write
      const run = findPosition(runId)
      if (run === undefined || run.token !== token || run.lastSeq !== lastSeq) return FENCED
      if (run.state !== 'ready' && run.state !== 'parked') return FENCED
      if (write.next === 'ready') makeReady.run(clock.now(), run.id)
      const assignments: readonly Assignment[] = [
        ['last_seq = ?', lastSeq + events.length],
        [`write_no = 0, token = ${NEW_TOKEN}`],
        ...(write.steps.length === 0 ? [] : [['lost_owners = 0'] as const]),
      ]
      const appended = append({ ...write, ...run, assignments })
      const isReady = write.next === 'ready' && !appended.hasEnded
      const notifications = isReady
        ? [{ kind: 'ready' } as const, ...appended.notifications]
        : appended.notifications
      return toOutcome({ ...appended, notifications })
    },
  }
}

/** Losses of owners are forgotten when the run has made a step long after its claim, and otherwise limited. */
const FORGIVE_LOSSES = `lost_owners = CASE WHEN coalesce(claimed_at, 0) <= ? THEN 0
  ELSE min(lost_owners, ${MAX_LOSSES_AFTER_STEP}) END`

function toOutcome({
  events,
  notifications = [],
  hasErased = false,
}: Pick<Appended, 'events'> & Partial<Appended>): WriteOutcome {
  return { result: { kind: 'written', events }, notifications, hasErased }
}

/** The position of a run. */
interface Position {
  readonly id: number
  readonly token: string
  readonly lastSeq: number
  readonly writeNo: number
  readonly state: QueueState
}

/** Whether the write repeats the last one that was stored under the claim. */
function isRepeated({ state, writeNo: last }: Position, writeNo: number): boolean {
  return last === writeNo && last > 0 && (state === 'owned' || state === 'ended')
}

function preparePositionReader(
  database: SqliteParts['database'],
): (runId: string) => Position | undefined {
  const select = database.prepare(
    'SELECT id, token, last_seq, write_no, state FROM runs WHERE run_id = ?',
  )
  return (runId) => {
    const row = select.get(runId)
    if (row === undefined) return undefined
    return {
      id: Number(row['id']),
      token: String(row['token']),
      lastSeq: Number(row['last_seq']),
      writeNo: Number(row['write_no']),
      // NOTE: a cast at the boundary: this store only ever writes these states.
      state: row['state'] as QueueState,
    }
  }
}
