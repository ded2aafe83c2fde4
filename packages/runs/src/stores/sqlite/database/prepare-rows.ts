/** Statements that read records. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * Prepares a statement whose integers are read as `bigint`: one that a number cannot represent would otherwise make the
 * read of all rows fail. `ColumnReader` converts them.
 */
export function prepareRows(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}
