/** Reads the data of one run. */
import { StoredReader } from '../../../log/read-stored.ts'
import { prepareRows } from '../database/prepare-rows.ts'
import { keySql, numberSql, ofRun } from '../schema/log-key.ts'
import { sqliteRecords } from './rows.ts'
import { readStep } from '../../shared/read-records.ts'

import type { PendingCommand } from '../../../ports/command-queue.ts'
import type { RunRecord } from '../../../domain/run-record.ts'
import type { RunStep } from '@tutti/ensemble'
import type { DatabaseSync } from 'node:sqlite'
import type { StoredRow } from '../../shared/column-reader.ts'

/** A row of a run, with the fields that only the store uses. */
export interface SqliteRunRow {
  /** Row id; other tables refer to it. */
  readonly id: number
  readonly state: QueueState
  readonly run: RunRecord
  /** Fencing token of its current claim or, when it is unowned, of its last change. */
  readonly token: string
  /** Number of the last write under its current claim. */
  readonly writeNo: number
  readonly lostOwners: number
  /** Instant at which it is due or, if it is owned, its lease ends; Infinity for never. */
  readonly dueAt: number
  readonly fingerprint: string | null
}

/** SQL of the rows of {@link readRunRow}, without a condition. */
export const SELECT_RUNS = 'SELECT runs.*, inputs, request FROM runs JOIN requests ON run = id'

/** SQL of a new fencing token. */
export const NEW_TOKEN = 'lower(hex(randomblob(16)))'

/** The state of a run in the queue. */
export type QueueState = 'ready' | 'owned' | 'parked' | 'ended'

/** Reads of one run. */
export interface RunRows {
  find(runId: string): SqliteRunRow | undefined
  /** Returns the run with that row id, which exists. */
  get(id: number): SqliteRunRow
  /** Returns the steps of the run with that row id, up to those of an event, in order. */
  steps(id: number, upTo?: number): readonly RunStep[]
  /** Returns the size of these steps with all values that they refer to, in bytes. */
  stepBytes(id: number, upTo?: number): number
  /** Returns its pending commands, in order. */
  commands(id: number): readonly PendingCommand[]
}

/** The steps of a run up to those of an event. */
const UP_TO = `${ofRun('$id')} AND seq <= $upTo`

/** Prepares the reads. */
export function prepareRunRows(database: DatabaseSync): RunRows {
  const run = prepareRows(database, `${SELECT_RUNS} WHERE run_id = ?`)
  const runById = prepareRows(database, `${SELECT_RUNS} WHERE id = ?`)
  const steps = database.prepare(
    `SELECT ${numberSql()} AS n, data FROM steps WHERE ${UP_TO} ORDER BY key`,
  )
  const event = database.prepare(`SELECT data FROM events WHERE key = ${keySql('?', '?')}`)
  const stepBytes = database.prepare(
    `SELECT coalesce(sum(coalesce(bytes, octet_length(data))), 0) AS bytes FROM steps WHERE ${UP_TO}`,
  )
  const commands = database.prepare(
    `SELECT command_id, command, run_id FROM commands JOIN runs ON runs.id = run
     WHERE run = ? AND answer IS NULL ORDER BY n`,
  )
  return {
    find: (runId) => {
      const row = run.get(runId)
      return row === undefined ? undefined : readRunRow(row)
    },
    get: (id) => readRunRow(runById.get(id) ?? {}),
    steps: (id, upTo = Number.MAX_SAFE_INTEGER) => {
      const reader = new StoredReader((seq) => String(event.get(id, seq)?.['data']))
      const rows = steps.all({ id, upTo })
      // The first step is deleted, and the others are deleted soon (RUNS-P18).
      if (Number(rows[0]?.['n'] ?? 0) > 0) return []
      return rows.map((row) => readStep(reader, row))
    },
    stepBytes: (id, upTo = Number.MAX_SAFE_INTEGER) =>
      Number(stepBytes.get({ id, upTo })?.['bytes']),
    commands: (id) => sqliteRecords.pendingCommands(commands.all(id)),
  }
}

/** Reads a row of {@link SELECT_RUNS}. */
export function readRunRow(row: StoredRow): SqliteRunRow {
  const { id, state, lost_owners: lostOwners, due_at: dueAt, fingerprint } = row
  return {
    id: Number(id),
    // NOTE: a cast at the boundary: this store only ever writes these states.
    state: state as QueueState,
    run: sqliteRecords.run(row),
    token: String(row['token']),
    writeNo: Number(row['write_no']),
    lostOwners: Number(lostOwners),
    dueAt: dueAt === null ? Infinity : Number(dueAt),
    fingerprint: typeof fingerprint === 'string' ? fingerprint : null,
  }
}
