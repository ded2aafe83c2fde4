/** Makes several statements one. */
import type { DatabaseSync } from 'node:sqlite'

/** Runs `body` so that all it writes is kept, or nothing when it throws. It must not wait. */
export type Transaction = <T>(body: () => T) => T

/** Makes the function that runs transactions on `database`; they cannot be nested. */
export function createTransaction(database: DatabaseSync): Transaction {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  return (body) => {
    begin.run()
    try {
      const result = body()
      commit.run()
      return result
    } catch (error) {
      rollBack(database)
      throw error
    }
  }
}

/** Ends a transaction that failed; some failures, such as a full disk, have ended it already. */
function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // Nothing is left to roll back.
  }
}
