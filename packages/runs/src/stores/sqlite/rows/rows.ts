/** Pure: converts rows of the embedded store to records. */
import { RecordReader } from '../../shared/read-records.ts'
import { sqliteDialect } from '../schema/dialect.ts'

import type { CommandAnswer } from '../../../ports/command-queue.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Reads the rows of this store. */
export const sqliteRecords = new RecordReader(sqliteDialect.texts)

/** Reads the answer from a row of table `commands` that has one. */
export function toAnswer(row: StoredRow): CommandAnswer {
  // NOTE: a cast at the boundary: this store only ever writes answers.
  return JSON.parse(String(row['answer'])) as CommandAnswer
}
