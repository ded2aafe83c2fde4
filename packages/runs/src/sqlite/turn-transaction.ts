/**
 * Combines all writes of a turn of the event loop into one transaction. A transaction waits for the disk, so one
 * transaction for many writes costs little more than one for a single write.
 *
 *   create ─┐                      ┌─▶ promise of the create
 *   commit ─┼─▶ waiting ─ setImmediate ─ BEGIN … COMMIT ─┼─▶ promise of the commit
 *   claim  ─┘                      └─▶ promise of the claim
 *
 * RUNS-U1 Bodies run in the order of their calls. Each one reads the writes of those before it.
 * RUNS-U2 A body that throws is rolled back and rejects its own promise. The others are stored.
 * RUNS-U3 Promises settle when everything is durable.
 * RUNS-U4 When the transaction fails, or a body throws after its first write, each body runs again in a separate
 *    transaction, which settles its promise.
 * RUNS-U6 A transaction that has taken `MAX_BATCH_MS` takes no further body. The others form the next one, `PAUSE` passes of the
 *    event loop later, so that large writes do not block it. A pass accepts one connection.
 * RUNS-U5 `flush` writes waiting bodies at once; the store calls it before it closes.
 *
 * A body that throws before its first write, such as a refused submit, has nothing to roll back. Savepoints would copy
 * each page that a body changes.
 */
import type { Transaction } from './transaction.ts'
import type { DatabaseSync } from 'node:sqlite'

/** Runs work in one transaction with the other work of this turn of the event loop. */
export interface TurnTransaction {
  /**
   * Runs `body` atomically. `body` must be synchronous, and may run twice: the writes of its first run are then rolled
   * back.
   */
  <T>(body: () => T): Promise<T>
  /** Runs the waiting work at once. */
  flush(): void
}

/** Time after which a transaction takes no further body, in milliseconds. */
const MAX_BATCH_MS = 10

/** Passes of the event loop between a transaction that took long and the next one. */
const PAUSE = 8

interface Waiting {
  /** Does the work and returns the function that resolves its promise. */
  readonly run: () => () => void
  readonly reject: (error: unknown) => void
}

/** Returns the function that collects work for the shared transaction. */
export function createTurnTransaction(
  database: DatabaseSync,
  transaction: Transaction,
  elapsed: () => number = () => performance.now(),
): TurnTransaction {
  const countChanges = prepareChangeCounter(database)
  let waiting: Waiting[] = []
  const runBatch = (): void => {
    const batch = waiting
    waiting = []
    const [first] = batch
    if (first === undefined) return
    if (batch.length === 1) runAlone(transaction, first)
    else
      waiting = [
        ...runTogether(database, transaction, { batch, countChanges, elapsed }),
        ...waiting,
      ]
  }
  let isScheduled = false
  const schedule = (passes: number): void => {
    isScheduled = true
    setImmediate(() => {
      if (passes > 1) schedule(passes - 1)
      else runTurn()
    })
  }
  const runTurn = (): void => {
    const begunAt = elapsed()
    runBatch()
    isScheduled = false
    const isLong = elapsed() - begunAt >= MAX_BATCH_MS
    if (isLong || waiting.length > 0) schedule(isLong ? PAUSE : 1)
  }
  const flush = (): void => {
    while (waiting.length > 0) runBatch()
  }
  const add = <T>(body: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      if (!isScheduled) schedule(1)
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

/** Runs bodies in one transaction until it has taken long enough. Returns those that have not run. */
function runTogether(
  database: DatabaseSync,
  transaction: Transaction,
  { batch, countChanges, elapsed }: Batch,
): readonly Waiting[] {
  const settle = ({ run, reject }: Waiting): (() => void) => {
    const before = countChanges()
    try {
      return run()
    } catch (error) {
      // Only the whole transaction can be rolled back. Some failures, such as a full disk, have already ended it.
      if (!database.isTransaction || countChanges() !== before) throw error
      return () => {
        reject(error)
      }
    }
  }
  const begunAt = elapsed()
  let begun = 0
  const settles: (() => void)[] = []
  try {
    transaction(() => {
      for (const one of batch) {
        if (begun > 0 && elapsed() - begunAt >= MAX_BATCH_MS) break
        begun += 1
        settles.push(settle(one))
      }
    })
  } catch {
    for (const one of batch) runAlone(transaction, one)
    return []
  }
  for (const settleOne of settles) settleOne()
  return batch.slice(begun)
}

interface Batch {
  readonly batch: readonly Waiting[]
  readonly countChanges: () => unknown
  readonly elapsed: () => number
}

/** Returns the function that counts the rows changed so far. */
function prepareChangeCounter(database: DatabaseSync): () => unknown {
  const count = database.prepare('SELECT total_changes() AS changes')
  return () => count.get()?.['changes']
}
