/** Pure: converts rows of the Postgres store to records. */
import { ColumnReader, type StoredRow } from '../../shared/column-reader.ts'
import { RecordReader } from '../../shared/read-records.ts'
import { fromColumn } from '../database/text.ts'
import { postgresDialect } from '../schema/dialect.ts'

import type { RunRecord } from '../../../domain/run-record.ts'

/** Reads the rows of this store. */
export const postgresRecords = new RecordReader(postgresDialect.texts)

/** A row of a run, with the fields that only the store uses. */
export interface PostgresRunRow {
  /** Row id; other tables refer to it. */
  readonly id: string
  readonly state: 'ready' | 'owned' | 'parked' | 'ended'
  readonly run: RunRecord
  /** Fencing token of its current claim or, when it is unowned, of its last change. */
  readonly token: string
  readonly writeNo: number
  readonly nextStep: number
  readonly lostOwners: number
  /** Number of commands that were queued so far. */
  readonly commands: number
  readonly fingerprint: string | null
}

/** Reads a row of table `runs`. */
export function toRunRow(row: StoredRow): PostgresRunRow {
  const { id, state, write_no: writeNo, next_step: nextStep, lost_owners: lostOwners } = row
  return {
    id: String(id),
    // NOTE: a cast at the boundary: this store only ever writes these states.
    state: state as PostgresRunRow['state'],
    run: postgresRecords.run(row),
    token: String(row['token']),
    writeNo: Number(writeNo),
    nextStep: Number(nextStep),
    lostOwners: Number(lostOwners),
    commands: Number(row['commands']),
    fingerprint: new ColumnReader(row).text('fingerprint', fromColumn) ?? null,
  }
}
