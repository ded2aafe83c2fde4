/**
 * The embedded store: SQLite through Node's own `node:sqlite`, one file, no service. All statements run
 * to their end before anything else happens in the process, so a transaction needs no lock of ours.
 */
import { systemClock, type Clock } from '@tutti/core'

import { NoticeBoard } from '../notice-board.ts'
import { openDatabase } from './open-database.ts'
import { runRowsOf } from './run-rows.ts'
import { sqliteEventLog } from './sqlite-event-log.ts'
import { SqliteRunQueue } from './sqlite-run-queue.ts'
import { SqliteRunSignals } from './sqlite-run-signals.ts'
import { SqliteRunStore } from './sqlite-run-store.ts'
import { transactionOn } from './transaction.ts'

import type { RunStorage } from '../ports/run-storage.ts'
import type { SqliteParts } from './sqlite-parts.ts'

/** Settings of the embedded store. */
export interface SqliteRunStorageOptions {
  /** Measures leases, waits and ages. @default the clock of this machine */
  readonly clock?: Clock
}

/**
 * Opens, or makes, the embedded store in `directory`. Only one process may have it open.
 *
 * @throws {TuttiError} STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE, see the message.
 */
export function sqliteRunStorage(
  directory: string,
  { clock = systemClock }: SqliteRunStorageOptions = {},
): RunStorage {
  const { database, close } = openDatabase(directory)
  const board = new NoticeBoard()
  const parts: SqliteParts = {
    database,
    clock,
    transaction: transactionOn(database),
    rows: runRowsOf(database),
    board,
  }
  return {
    runs: new SqliteRunStore(parts),
    queue: new SqliteRunQueue(parts),
    signals: new SqliteRunSignals(parts),
    events: sqliteEventLog(database),
    isShared: false,
    isAvailable: true,
    listen: (listener) => board.listen(listener),
    [Symbol.asyncDispose]() {
      board.close()
      close()
      return Promise.resolve()
    },
  }
}
