/**
 * Pure: converts rows of the embedded store to records.
 *
 * Text that models, tools and people write is stored as JSON: a text column is read up to its first NUL, and cannot hold
 * half of a surrogate pair.
 */
import { RecordReader } from '../../shared/read-records.ts'

import type { CommandAnswer } from '../../../ports/command-queue.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Reads the rows of this store. */
export const sqliteRecords = new RecordReader({
  id: (stored) => stored,
  text: (stored) => JSON.parse(stored),
  inside: (start) => start.slice(1).replace(/"$/, ''),
})

/** Reads the answer from a row of table `commands` that has one. */
export function toAnswer(row: StoredRow): CommandAnswer {
  // NOTE: a cast at the boundary: this store only ever writes answers.
  return JSON.parse(String(row['answer'])) as CommandAnswer
}
