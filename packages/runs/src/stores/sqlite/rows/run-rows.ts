/** Reads the data of one run. */
import { StoredReader } from '../../../log/read-stored.ts'
import { keySql, numberSql, ofRun } from '../schema/log-key.ts'
import { sqliteRecords } from './rows.ts'
import { readStep, type RunRow } from '../../shared/read-records.ts'

import type { PendingCommand } from '../../../ports/command-queue.ts'
import type { KnownRun } from '../../shared/log/owned-runs.ts'
import type { StoredRow } from '../../shared/column-reader.ts'
import type { SqliteStatements } from '../database/statements.ts'
import type { RunStep } from '@tutti/ensemble/internal'

/** A row of a run, with the fields that only this store uses. */
export interface SqliteRunRow extends RunRow {
  /** Instant at which it is due or, if it is owned, its lease ends; Infinity for never. */
  readonly dueAt: number
}

/** SQL of the rows of {@link RunRows}, without a condition. */
export const SELECT_RUNS = `SELECT runs.*, inputs, request,
    (SELECT coalesce(${numberSql('max(key)')} + 1, 0) FROM steps WHERE ${ofRun('runs.id')}) AS next_step
  FROM runs JOIN requests ON run = id`

/** SQL of a new fencing token. */
export const NEW_TOKEN = 'lower(hex(randomblob(16)))'

/** The steps of a run up to those of an event. */
const UP_TO = `${ofRun('$1')} AND seq <= $2`

/** Reads of one run. */
export class RunRows {
  readonly #statements: SqliteStatements

  constructor(statements: SqliteStatements) {
    this.#statements = statements
  }

  find(runId: string): SqliteRunRow | undefined {
    const [row] = this.#statements.run(`${SELECT_RUNS} WHERE run_id = $1`, [runId])
    return row === undefined ? undefined : readRunRow(row)
  }

  /** Returns the run with that row id, which exists. */
  get(id: RunRow['id']): SqliteRunRow {
    const [row = {}] = this.#statements.run(`${SELECT_RUNS} WHERE id = $1`, [id])
    return readRunRow(row)
  }

  /** Returns a run with its tasks. */
  findKnown(runId: string): KnownRun | undefined {
    const row = this.find(runId)
    if (row === undefined) return undefined
    const tasks =
      row.run.startedAt === undefined
        ? []
        : this.#statements.run('SELECT * FROM tasks WHERE run = $1', [row.id])
    const stored = tasks.map((task) => sqliteRecords.storedTask(task))
    return { row, tasks: new Map(stored.map((task) => [task.taskIndex, task])) }
  }

  /** Returns the steps of the run with that row id, up to those of an event, in order. */
  steps(id: RunRow['id'], upTo: number = Number.MAX_SAFE_INTEGER): readonly RunStep[] {
    const reader = new StoredReader((seq) => readData(this.#statements, id, seq))
    const rows = this.#statements.run(
      `SELECT ${numberSql()} AS n, data FROM steps WHERE ${UP_TO} ORDER BY key`,
      [id, upTo],
    )
    // The first step is deleted, and the others are deleted soon (RUNS-P18).
    if (Number(rows[0]?.['n'] ?? 0) > 0) return []
    return rows.map((row) => readStep(reader, row))
  }

  /** Returns the size of these steps with all values that they refer to, in bytes. */
  stepBytes(id: RunRow['id'], upTo: number = Number.MAX_SAFE_INTEGER): number {
    const [row] = this.#statements.run(
      `SELECT coalesce(sum(coalesce(bytes, octet_length(data))), 0) AS bytes FROM steps WHERE ${UP_TO}`,
      [id, upTo],
    )
    return Number(row?.['bytes'])
  }

  /** Returns its pending commands, in order. */
  commands(id: RunRow['id']): readonly PendingCommand[] {
    const rows = this.#statements.run(
      `SELECT command_id, command, run_id FROM commands JOIN runs ON runs.id = run
       WHERE run = $1 AND answer IS NULL ORDER BY n`,
      [id],
    )
    return sqliteRecords.pendingCommands(rows)
  }
}

/** Reads the data of an event of the run with that row id. */
export function readData(statements: SqliteStatements, id: RunRow['id'], seq: number): string {
  const sql = `SELECT data FROM events WHERE key = ${keySql('$1', '$2')}`
  return String(statements.run(sql, [id, seq])[0]?.['data'])
}

/** Reads a row of {@link SELECT_RUNS}. */
export function readRunRow(row: StoredRow): SqliteRunRow {
  const { due_at: dueAt } = row
  return { ...sqliteRecords.runRow(row), dueAt: dueAt === null ? Infinity : Number(dueAt) }
}
