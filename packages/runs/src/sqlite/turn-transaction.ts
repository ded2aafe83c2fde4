/**
 * Makes one transaction of all that is written in a turn of the event loop: a transaction waits for the
 * disk, so one for all costs little more than one for each would cost alone.
 *
 *   create ─┐                      ┌─▶ promise of the create
 *   commit ─┼─▶ waiting ─ setImmediate ─ BEGIN … COMMIT ─┼─▶ promise of the commit
 *   claim  ─┘                      └─▶ promise of the claim
 *
 * RUNS-U1 Bodies run in the order in which they came; each reads what those before it wrote.
 * RUNS-U2 A body that throws leaves nothing behind and rejects its own promise; the others are kept.
 * RUNS-U3 Promises settle when everything is durable.
 * RUNS-U4 When the transaction itself fails, each body runs again in one of its own, and is told how that went.
 * RUNS-U5 Whoever closes the store has what waits written first.
 */
import type { Transaction } from './transaction.ts'
import type { DatabaseSync } from 'node:sqlite'

/** Work that is done together with what else this turn of the event loop brings. */
export interface TurnTransaction {
  /**
   * Runs `body` so that all it writes is kept, or nothing when it throws. It must not wait, and may run
   * twice: what it did the first time was undone then.
   */
  <T>(body: () => T): Promise<T>
  /** Does at once what waits. */
  flush(): void
}

interface Waiting {
  /** Does the work; gives the function that settles its promise. */
  readonly run: () => () => void
  readonly reject: (error: unknown) => void
}

/** Makes the function that gathers. */
export function createTurnTransaction(
  database: DatabaseSync,
  transaction: Transaction,
): TurnTransaction {
  const apart = createSavepoint(database)
  let waiting: Waiting[] = []
  const flush = (): void => {
    const batch = waiting
    waiting = []
    const [first] = batch
    if (first === undefined) return
    if (batch.length === 1) runAlone(transaction, first)
    else runTogether(transaction, apart, batch)
  }
  const add = <T>(body: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush)
      const run = (): (() => void) => {
        const value = body()
        return () => {
          resolve(value)
        }
      }
      waiting.push({ run, reject })
    })
  return Object.assign(add, { flush })
}

function runAlone(transaction: Transaction, { run, reject }: Waiting): void {
  try {
    transaction(run)()
  } catch (error) {
    reject(error)
  }
}

function runTogether(
  transaction: Transaction,
  apart: Transaction,
  batch: readonly Waiting[],
): void {
  const settle = ({ run, reject }: Waiting): (() => void) => {
    try {
      return apart(run)
    } catch (error) {
      if (error instanceof TransactionLost) throw error
      return () => {
        reject(error)
      }
    }
  }
  let settles: readonly (() => void)[]
  try {
    settles = transaction(() => batch.map(settle))
  } catch {
    for (const one of batch) runAlone(transaction, one)
    return
  }
  for (const done of settles) done()
}

/** Some failures, such as a full disk, end the whole transaction: then no part of it can go on. */
class TransactionLost extends Error {}

/**
 * Makes the function that runs a part of a transaction so that it is undone alone when it throws.
 *
 * @throws {TransactionLost} when there is no transaction any more.
 */
function createSavepoint(database: DatabaseSync): Transaction {
  const begin = database.prepare('SAVEPOINT part')
  const end = database.prepare('RELEASE part')
  const undo = (cause: unknown): void => {
    try {
      database.exec('ROLLBACK TO part; RELEASE part')
    } catch {
      throw new TransactionLost('The transaction is over', { cause })
    }
  }
  return (body) => {
    begin.run()
    try {
      const result = body()
      end.run()
      return result
    } catch (error) {
      undo(error)
      throw error
    }
  }
}
