/**
 * The embedded store: SQLite through Node's own `node:sqlite`, one file, no service. All statements run
 * to their end before anything else happens in the process, so a transaction needs no lock of ours.
 */
import { systemClock, type Clock } from '@tutti/core'

import { NotificationHub } from '../feed/notification-hub.ts'
import { openDatabase, type Synchronous } from './open-database.ts'
import { prepareRunRows } from './run-rows.ts'
import { SqliteAuditLog } from './sqlite-audit-log.ts'
import { sqliteEventLog } from './sqlite-event-log.ts'
import { sqliteRunMemory } from './sqlite-run-memory.ts'
import { SqliteRunQueue } from './sqlite-run-queue.ts'
import { SqliteCommandQueue } from './sqlite-command-queue.ts'
import { SqliteRunStore } from './sqlite-run-store.ts'
import { sqliteSecretStore } from './sqlite-secret-store.ts'
import { SqliteWebhookOutbox } from './sqlite-webhook-outbox.ts'
import { createTransaction } from './transaction.ts'
import { createTurnTransaction } from './turn-transaction.ts'

import type { RunStorage } from '../ports/run-storage.ts'
import type { SqliteParts } from './sqlite-parts.ts'

/** Settings of the embedded store. */
export interface SqliteRunStorageOptions {
  /** Measures leases, waits and ages. @default the clock of this machine */
  readonly clock?: Clock
  /**
   * When a commit is on disk. FULL: before it is answered. NORMAL: soon after; when the machine loses its
   * power, or its kernel fails, the last moments are lost, when only the process dies nothing is.
   * @default 'FULL'
   */
  readonly synchronous?: Synchronous
}

const SYNCHRONOUS: readonly unknown[] = ['FULL', 'NORMAL'] satisfies readonly Synchronous[]

/**
 * Opens, or makes, the embedded store in `directory`. Only one process may have it open.
 *
 * @throws {TuttiError} STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE, see the message.
 * @throws {RangeError} when `synchronous` is neither of the two.
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
  return {
    runs: new SqliteRunStore(parts),
    queue: new SqliteRunQueue(parts),
    commands: new SqliteCommandQueue(parts),
    events: sqliteEventLog(database),
    outbox: new SqliteWebhookOutbox(parts),
    audit: new SqliteAuditLog(parts),
    secrets: sqliteSecretStore(parts),
    ...sqliteRunMemory(parts),
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
