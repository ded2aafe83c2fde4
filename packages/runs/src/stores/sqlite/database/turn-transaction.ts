/**
 * Combines all writes of a turn of the event loop into one transaction. A transaction waits for the disk, so one
 * transaction for many writes costs little more than one for a single write.
 *
 *   create ─┐                      ┌─▶ promise of the create
 *   commit ─┼─▶ waiting ─ setImmediate ─ BEGIN … COMMIT ─┼─▶ promise of the commit
 *   claim  ─┘                      └─▶ promise of the claim
 *
 * RUNS-U1 Bodies of one caller run in the order of their calls. Each one reads the writes of those before it.
 * RUNS-U2 A body that throws is rolled back and rejects its own promise. The others are stored.
 * RUNS-U3 Promises settle when everything is durable.
 * RUNS-U4 When the transaction fails, or a body throws after its first write, each body runs again in a separate
 *    transaction, which settles its promise.
 * RUNS-U6 A transaction that has taken `MAX_BATCH_MS` takes no further body. The others form the next one, `pause` passes of
 *    the event loop later, so that nothing else of the thread waits for all large writes. A pass accepts one connection.
 * RUNS-U7 Callers take turns, so that one with many large writes does not delay the write of another.
 * RUNS-U8 Work of `later` joins the next transaction that happens anyway, and makes a separate one only if none happens
 *    for `LATER_MS`.
 * RUNS-U5 `flush` writes waiting bodies at once; the store calls it before it closes.
 *
 * A body that throws before its first write, such as a refused submit, has nothing to roll back. Savepoints would copy
 * each page that a body changes.
 */
import { FairQueue } from '../../../load/fair-queue.ts'

import type { QueueSource } from '../../../load/fair-queue.ts'
import type { Transaction } from './transaction.ts'
import type { DatabaseSync } from 'node:sqlite'

/** Runs work in one transaction with the other work of this turn of the event loop. */
export interface TurnTransaction {
  /**
   * Runs `body` atomically. `body` must be synchronous, and may run twice: the writes of its first run are then rolled
   * back.
   */
  <T>(body: () => T): Promise<T>
  /** The same, but the work waits for other work, for up to `LATER_MS`. */
  later<T>(body: () => T): Promise<T>
  /** Whether work waits for the next transaction. */
  readonly isWaiting: boolean
  /** Runs the waiting work at once. */
  flush(): void
}

/** Time after which a transaction takes no further body, in milliseconds. */
const MAX_BATCH_MS = 10

/** Options of {@link createTurnTransaction}. */
export interface TurnOptions {
  /** Returns the caller of the work that is added. */
  readonly source: () => QueueSource
  /** Passes of the event loop between a transaction that took long and the next one, at least 1. */
  readonly pause: number
  /** Measures time, in milliseconds. @default `performance.now` */
  readonly elapsed?: () => number
}

/** Source of work that waits for other work. */
const OWN_WORK: QueueSource = { key: '', connection: 'later' }

/** Time for which work of `later` waits for other work, in milliseconds. */
const LATER_MS = 50

interface Waiting {
  /** Does the work and returns the function that resolves its promise. */
  readonly run: () => () => void
  readonly reject: (error: unknown) => void
}

/** Returns the function that collects work for the shared transaction. */
export function createTurnTransaction(
  database: DatabaseSync,
  transaction: Transaction,
  { source, pause, elapsed = () => performance.now() }: TurnOptions,
): TurnTransaction {
  const countChanges = prepareChangeCounter(database)
  const waiting = new FairQueue<Waiting>()
  const patient: Waiting[] = []
  let stopPatience: NodeJS.Timeout | undefined
  const admitPatient = (): void => {
    clearTimeout(stopPatience)
    stopPatience = undefined
    for (const work of patient.splice(0)) waiting.push(OWN_WORK, work)
  }
  const runBatch = (): void => {
    admitPatient()
    const first = waiting.shift()
    if (first === undefined) return
    if (waiting.size === 0) runAlone(transaction, first)
    else runTogether(database, transaction, { first, waiting, countChanges, elapsed })
  }
  let isScheduled = false
  const runAfter = (passes: number): void => {
    setImmediate(() => {
      if (passes > 1) {
        runAfter(passes - 1)
        return
      }
      const begunAt = elapsed()
      runBatch()
      const isLong = elapsed() - begunAt >= MAX_BATCH_MS
      isScheduled = isLong || waiting.size > 0
      if (isScheduled) runAfter(isLong ? pause : 1)
    })
  }
  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    runAfter(1)
  }
  return Object.defineProperties(
    <T>(body: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        schedule()
        waiting.push(source(), toWaiting(body, resolve, reject))
      }),
    {
      later: {
        value: <T>(body: () => T): Promise<T> =>
          new Promise((resolve, reject) => {
            patient.push(toWaiting(body, resolve, reject))
            stopPatience ??= setTimeout(schedule, LATER_MS)
          }),
      },
      isWaiting: { get: () => waiting.size > 0 },
      flush: {
        value: () => {
          admitPatient()
          while (waiting.size > 0) runBatch()
        },
      },
    },
  ) as TurnTransaction
}

function toWaiting<T>(
  body: () => T,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): Waiting {
  const run = (): (() => void) => {
    const value = body()
    return () => {
      resolve(value)
    }
  }
  return { run, reject }
}

function runAlone(transaction: Transaction, { run, reject }: Waiting): void {
  try {
    transaction(run)()
  } catch (error) {
    reject(error)
  }
}

/** Runs bodies in one transaction until it has taken long enough. */
function runTogether(
  database: DatabaseSync,
  transaction: Transaction,
  { first, waiting, countChanges, elapsed }: Batch,
): void {
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
  // Bodies that are added meanwhile belong to the next transaction.
  let left = waiting.size
  const batch = [first]
  const takeNext = (): Waiting | undefined => {
    const next = left > 0 ? waiting.shift() : undefined
    left -= 1
    if (next !== undefined) batch.push(next)
    return next
  }
  const settles: (() => void)[] = []
  try {
    transaction(() => {
      settles.push(settle(first))
      while (elapsed() - begunAt < MAX_BATCH_MS) {
        const next = takeNext()
        if (next === undefined) break
        settles.push(settle(next))
      }
    })
  } catch {
    while (takeNext() !== undefined);
    for (const one of batch) runAlone(transaction, one)
    return
  }
  for (const settleOne of settles) settleOne()
}

interface Batch {
  readonly first: Waiting
  readonly waiting: FairQueue<Waiting>
  readonly countChanges: () => unknown
  readonly elapsed: () => number
}

/** Returns the function that counts the rows changed so far. */
function prepareChangeCounter(database: DatabaseSync): () => unknown {
  const count = database.prepare('SELECT total_changes() AS changes')
  return () => count.get()?.['changes']
}
