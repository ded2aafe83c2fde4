/** Pure: decides a write from the row of its run. */
import { isWaitingRunStatus } from '@tutti/protocol/basics'

import type { PreparedWrite, WrittenFrom } from '../../../log/prepared-write.ts'
import type { RunWrite, UnownedWrite } from '../../../ports/run-store.ts'
import type { RunRow } from '../read-records.ts'
import type { RunStatus } from '@tutti/protocol'

/** A write to store. */
export interface AcceptedWrite {
  /** The run before the write. */
  readonly row: RunRow
  /** The run's status before the events of the write. */
  readonly status: RunStatus
  /** Whether the parked run becomes ready. */
  readonly wakes: boolean
  readonly writeNo: number
  readonly prepared: PreparedWrite
}

/** The outcome of a write: the sequence number of its first event, or that its writer has lost the run. */
export type DecidedResult = WrittenFrom | { readonly kind: 'fenced' }

/** The decision about a write. */
export interface Decision {
  readonly result: DecidedResult
  /** Absent when there is nothing to store. */
  readonly accepted?: AcceptedWrite
}

/** A write to decide. */
export interface DecidableWrite {
  readonly eventCount: number
  /** Prepares it as the write that follows the event `lastSeq` of its run. */
  readonly prepare: (lastSeq: number) => PreparedWrite
}

const FENCED: Decision = { result: { kind: 'fenced' } }

/** Accepts the next write under the claim, and does not store the last one again (RUNS-P2, RUNS-P7). */
export function decideWrite(
  row: RunRow | undefined,
  { token, writeNo, eventCount, prepare }: DecidableWrite & Pick<RunWrite, 'token' | 'writeNo'>,
): Decision {
  if (row === undefined || row.token !== token) return FENCED
  const { status, lastSeq } = row.run
  const isLast = writeNo === row.writeNo && writeNo > 0
  if (isLast && (row.state === 'owned' || row.state === 'ended')) {
    return { result: { kind: 'written', firstSeq: lastSeq + 1 - eventCount } }
  }
  if (row.state !== 'owned' || writeNo !== row.writeNo + 1) return FENCED
  return {
    result: { kind: 'written', firstSeq: lastSeq + 1 },
    accepted: { row, status, wakes: false, writeNo, prepared: prepare(lastSeq) },
  }
}

/** Accepts a write if the run is still unowned and unchanged (RUNS-P8). */
export function decideUnownedWrite(
  row: RunRow | undefined,
  write: Pick<DecidableWrite, 'prepare'> & Pick<UnownedWrite, 'token' | 'lastSeq' | 'next'>,
): Decision {
  if (row === undefined || row.token !== write.token) return FENCED
  const { lastSeq } = row.run
  if (lastSeq !== write.lastSeq) return FENCED
  if (row.state !== 'ready' && row.state !== 'parked') return FENCED
  const wakes = write.next === 'ready' && row.state === 'parked'
  const status = wakes && isWaitingRunStatus(row.run.status) ? 'RUNNING' : row.run.status
  return {
    result: { kind: 'written', firstSeq: lastSeq + 1 },
    accepted: { row, status, wakes, writeNo: 0, prepared: write.prepare(lastSeq) },
  }
}

/** Returns the write that appends the own events of a fork to the log that it has copied. */
export function toForkWrite(row: RunRow, prepared: PreparedWrite): AcceptedWrite {
  return { row, status: row.run.status, wakes: false, writeNo: row.writeNo, prepared }
}
