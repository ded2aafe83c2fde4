/** Pure: decides a write from the row of its run. */
import { toLoggedEvent } from '../../../log/serialize-once.ts'

import type { Change } from '../../../domain/change.ts'
import type { ForkedLog, UnownedWrite, RunWrite, WriteResult } from '../../../ports/run-store.ts'
import type { CommandAnswer } from '../../../ports/command-queue.ts'
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
  readonly events: RunWrite['events']
  readonly steps: RunWrite['steps']
  readonly stepEvents: RunWrite['stepEvents']
  readonly stored: RunWrite['stored']
  readonly answers: readonly CommandAnswer[]
  /** Changes of records that precede those of the events. */
  readonly changes?: readonly Change[]
}

/** The decision about a write. */
export interface Decision {
  readonly result: WriteResult
  /** Absent when there is nothing to store. */
  readonly accepted?: AcceptedWrite
}

const FENCED: Decision = { result: { kind: 'fenced' } }

/** Accepts the next write under the claim, and does not store the last one again (RUNS-P2, RUNS-P7). */
export function decideWrite(row: RunRow | undefined, write: RunWrite): Decision {
  if (row === undefined || row.token !== write.token) return FENCED
  const { events, steps, stepEvents, writeNo, answers = [], stored } = write
  const isLast = writeNo === row.writeNo && writeNo > 0
  if (isLast && (row.state === 'owned' || row.state === 'ended')) {
    return { result: toWritten(row, events, row.run.lastSeq + 1 - events.length) }
  }
  if (row.state !== 'owned' || writeNo !== row.writeNo + 1) return FENCED
  const { status } = row.run
  return {
    result: toWritten(row, events, row.run.lastSeq + 1),
    accepted: {
      row,
      status,
      wakes: false,
      writeNo,
      events,
      steps,
      stepEvents,
      answers,
      stored,
    },
  }
}

/** Accepts a write if the run is still unowned and unchanged (RUNS-P8). */
export function decideUnownedWrite(row: RunRow | undefined, write: UnownedWrite): Decision {
  if (row === undefined || row.token !== write.token) return FENCED
  if (row.run.lastSeq !== write.lastSeq) return FENCED
  if (row.state !== 'ready' && row.state !== 'parked') return FENCED
  const { events, steps } = write
  const wakes = write.next === 'ready' && row.state === 'parked'
  const status = wakes && row.run.status === 'WAITING_REVIEW' ? 'RUNNING' : row.run.status
  return {
    result: toWritten(row, events, row.run.lastSeq + 1),
    accepted: {
      row,
      status,
      wakes,
      writeNo: 0,
      events,
      steps,
      stepEvents: undefined,
      answers: [],
      stored: undefined,
    },
  }
}

/** Returns the write that appends the own events of a fork to the log that it has copied. */
export function toForkWrite(
  row: RunRow,
  { changes, events, steps, stepEvents }: ForkedLog,
): AcceptedWrite {
  const { writeNo } = row
  const unchanged = { status: row.run.status, wakes: false, writeNo, answers: [] }
  return { row, ...unchanged, events, steps, stepEvents, stored: undefined, changes }
}

function toWritten({ run }: RunRow, events: RunWrite['events'], first: number): WriteResult {
  return {
    kind: 'written',
    events: events.map((event, index) => toLoggedEvent(run.runId, first + index, event)),
  }
}
