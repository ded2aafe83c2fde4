/**
 * The embedded store: SQLite through Node's `node:sqlite`, one file, no service. Statements are synchronous, so
 * transactions within the process need no lock.
 */
import { systemClock, type Clock } from '@tutti/core'

import { NotificationHub } from '../feed/notification-hub.ts'
import { storeDispatcher } from '../ports/dispatcher.ts'
import { openDatabase, type Synchronous } from './open-database.ts'
import { prepareRunRows } from './run-rows.ts'
import { SqliteAuditLog } from './sqlite-audit-log.ts'
import { sqliteEventLog } from './sqlite-event-log.ts'
import { sqliteRunMemory } from './sqlite-run-memory.ts'
import { SqliteRunQueue } from './sqlite-run-queue.ts'
import { SqliteCommandQueue } from './sqlite-command-queue.ts'
import { SqliteRunStore } from './sqlite-run-store.ts'
import { sqliteBuildStore } from './sqlite-build-store.ts'
import { sqliteSecretStore } from './sqlite-secret-store.ts'
import { SqliteWebhookOutbox } from './sqlite-webhook-outbox.ts'
import { sqliteThreadStore } from './sqlite-thread-store.ts'
import { createTransaction } from './transaction.ts'
import { createTurnTransaction } from './turn-transaction.ts'

import type { RunStorage } from '../ports/run-storage.ts'
import type { SqliteParts } from './sqlite-parts.ts'

/** Settings of the embedded store. */
export interface SqliteRunStorageOptions {
  /** Measures leases, time limits and ages. @default the clock of this machine */
  readonly clock?: Clock
  /**
   * Time at which a commit is on disk. FULL: before it resolves. NORMAL: soon after; a power failure or a kernel crash
   * loses the last moments, but the death of the process loses nothing. @default 'FULL'
   */
  readonly synchronous?: Synchronous
}

const SYNCHRONOUS: readonly unknown[] = ['FULL', 'NORMAL'] satisfies readonly Synchronous[]

/**
 * Opens the embedded store in `directory`, and creates it if it does not exist. Only one process can open it.
 *
 * @throws {TuttiError} STORE_LOCKED when another process has it open; SCHEMA_TOO_NEW when a newer release has written
 * it; STORE_UNAVAILABLE when the directory cannot be used.
 * @throws {RangeError} when `synchronous` is neither FULL nor NORMAL.
 */
export function sqliteRunStorage(
  directory: string,
  { clock = systemClock, synchronous = 'FULL' }: SqliteRunStorageOptions = {},
): RunStorage {
  if (!SYNCHRONOUS.includes(synchronous)) {
    throw new RangeError(
      `synchronous must be 'FULL' or 'NORMAL', got ${JSON.stringify(synchronous)}`,
    )
  }
  const { database, close } = openDatabase(directory, synchronous)
  const board = new NotificationHub()
  const transaction = createTransaction(database)
  const inTurn = createTurnTransaction(database, transaction)
  const parts: SqliteParts = {
    database,
    clock,
    transaction,
    inTurn,
    rows: prepareRunRows(database),
    hub: board,
  }
  const queue = new SqliteRunQueue(parts)
  return {
    runs: new SqliteRunStore(parts),
    threads: sqliteThreadStore(parts),
    queue,
    dispatcher: storeDispatcher((request) => queue.take(request)),
    commands: new SqliteCommandQueue(parts),
    events: sqliteEventLog(database),
    outbox: new SqliteWebhookOutbox(parts),
    audit: new SqliteAuditLog(parts),
    builds: sqliteBuildStore(parts),
    secrets: sqliteSecretStore(parts),
    ...sqliteRunMemory(parts),
    processName: `${process.pid}`,
    isShared: false,
    isAvailable: true,
    listen: (listener) => board.listen(listener),
    [Symbol.asyncDispose]() {
      board.close()
      inTurn.flush()
      close()
      return Promise.resolve()
    },
  }
}
