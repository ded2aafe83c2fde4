/**
 * The embedded store: SQLite through Node's `node:sqlite`, one file, no service. Statements are synchronous, so
 * transactions within the process need no lock.
 */
import { systemClock, type Clock, type Logger } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'

import { NotificationHub } from '../shared/notification-hub.ts'
import { storeDispatcher } from '../../ports/dispatcher.ts'
import { DiskState } from './database/disk-state.ts'
import { openDatabase, type Synchronous } from './database/open-database.ts'
import { OwnedRuns } from '../shared/log/owned-runs.ts'
import { RunRows } from './rows/run-rows.ts'
import { sqliteEventLog } from './log/event-log.ts'
import { SqliteRunQueue } from './queue/run-queue.ts'
import { SqliteCommandQueue } from './queue/command-queue.ts'
import { auditLog } from '../shared/tables/audit-log.ts'
import { runMemory } from '../shared/tables/run-memory.ts'
import { secretStore } from '../shared/tables/secret-store.ts'
import { webhookOutbox } from '../shared/tables/webhook-outbox.ts'
import { threadStore } from '../shared/runs/thread-store.ts'
import { sqliteDialect } from './schema/dialect.ts'
import { SqliteStatements } from './database/statements.ts'
import {
  sqliteAuditInserter,
  sqliteDeliveryClaimer,
  sqliteMemoryAppender,
} from './tables/table-writes.ts'
import { SqliteRunStore } from './runs/run-store.ts'
import { sqliteBuildStore } from './tables/build-store.ts'
import { createTransaction } from './database/transaction.ts'
import { createTurnTransaction } from './database/turn-transaction.ts'

import type { StoreParts } from '../shared/schema/dialect.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { SqliteParts } from './rows/parts.ts'

/** Clock, durability and logger of the embedded store. */
export interface SqliteRunStorageOptions {
  /** Measures leases, time limits and ages. @default the clock of this machine */
  readonly clock?: Clock
  /**
   * Time at which a commit is on disk. FULL: before it resolves. NORMAL: soon after; a power failure or a kernel crash
   * loses the last moments, but the death of the process loses nothing. @default 'FULL'
   */
  readonly synchronous?: Synchronous
  /** Logs when the store can no longer be written, and when it can again. @default no logging */
  readonly logger?: Logger
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
  {
    clock = systemClock,
    synchronous = 'FULL',
    logger = silentLogger,
  }: SqliteRunStorageOptions = {},
): RunStorage {
  if (!SYNCHRONOUS.includes(synchronous)) {
    throw new RangeError(
      `synchronous must be 'FULL' or 'NORMAL', got ${JSON.stringify(synchronous)}`,
    )
  }
  const { database, close } = openDatabase(directory, synchronous)
  const board = new NotificationHub()
  const transaction = createTransaction(database)
  const statements = new SqliteStatements(database, clock, transaction)
  const inTurn = createTurnTransaction(database, transaction)
  const disk = new DiskState({ database, directory, hub: board, logger })
  const parts: SqliteParts = {
    database,
    clock,
    transaction,
    inTurn,
    statements,
    rows: new RunRows(statements),
    owned: new OwnedRuns(),
    hub: board,
    disk,
  }
  const queue = disk.guard(new SqliteRunQueue(parts))
  const shared: StoreParts = { dialect: sqliteDialect, requests: statements, searches: statements }
  const { memories, reflections } = runMemory(shared, sqliteMemoryAppender(parts))
  return {
    runs: disk.guard(new SqliteRunStore(parts)),
    threads: disk.guard(threadStore(shared)),
    queue,
    dispatcher: storeDispatcher((request) => queue.take(request)),
    commands: disk.guard(new SqliteCommandQueue(parts)),
    events: disk.guard(sqliteEventLog(statements)),
    outbox: disk.guard(webhookOutbox(shared, sqliteDeliveryClaimer(parts))),
    audit: disk.guard(auditLog(shared, sqliteAuditInserter(parts))),
    builds: disk.guard(sqliteBuildStore(parts)),
    secrets: disk.guard(secretStore(shared)),
    memories: disk.guard(memories),
    reflections: disk.guard(reflections),
    processName: `${process.pid}`,
    isShared: false,
    get isAvailable() {
      return disk.isAvailable
    },
    listen: (listener) => board.listen(listener),
    [Symbol.asyncDispose]() {
      board.close()
      disk.close()
      inTurn.flush()
      close()
      return Promise.resolve()
    },
  }
}
