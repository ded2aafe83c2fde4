/** Runs several statements atomically. */
import type { DatabaseSync } from 'node:sqlite'

/** Runs `body` in a transaction, which is rolled back if it throws. `body` must be synchronous. */
export type Transaction = <T>(body: () => T) => T

/** Returns the function that runs transactions on `database`; they cannot be nested. */
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

/** Rolls back a failed transaction. Some failures, such as a full disk, have already ended it. */
function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // The transaction has already ended.
  }
}
