/** Inserts several rows with one statement. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** Maximum number of rows of a statement. A usual write has fewer events. */
const MAX_ROWS = 16

/** Inserts rows; each has a value for every `?` of the row. */
export type RowInserter = (rows: readonly (readonly SQLInputValue[])[]) => void

/** Returns the function that inserts rows. `insert` ends before the values, and `row` has the placeholders of one row. */
export function prepareRowInserter(
  database: DatabaseSync,
  insert: string,
  row: string,
): RowInserter {
  const statements = new Map<number, StatementSync>()
  const prepare = (count: number): StatementSync => {
    const known = statements.get(count)
    if (known !== undefined) return known
    const statement = database.prepare(
      `${insert} VALUES ${Array.from({ length: count }, () => row).join(', ')}`,
    )
    statements.set(count, statement)
    return statement
  }
  return (rows) => {
    for (let at = 0; at < rows.length; at += MAX_ROWS) {
      const some = rows.slice(at, at + MAX_ROWS)
      prepare(some.length).run(...some.flat())
    }
  }
}
