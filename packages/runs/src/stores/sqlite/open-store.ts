/**
 * Opens the database of the embedded store: SQLite through Node's `node:sqlite`, one file, no service. Statements are
 * synchronous, so transactions need no lock, and the thread that opens the store waits for the disk.
 */
import { NotificationHub } from '../shared/notification-hub.ts'
import { DiskState } from './database/disk-state.ts'
import { openDatabase, type Synchronous } from './database/open-database.ts'
import { OwnedRuns } from '../shared/log/owned-runs.ts'
import { RunRows } from './rows/run-rows.ts'
import { sqliteEventLog, type SqliteEventLog } from './log/event-log.ts'
import { SqliteRunQueue } from './queue/run-queue.ts'
import { SqliteCommandQueue } from './queue/command-queue.ts'
import { auditLog } from '../shared/tables/audit-log.ts'
import { runMemory } from '../shared/tables/run-memory.ts'
import { ExternalEventTable } from '../shared/tables/external-events.ts'
import { scheduleStore } from '../shared/tables/schedule-store.ts'
import { secretStore } from '../shared/tables/secret-store.ts'
import { webhookOutbox } from '../shared/tables/webhook-outbox.ts'
import { threadStore } from '../shared/runs/thread-store.ts'
import { sqliteDialect } from './schema/dialect.ts'
import { SqliteStatements } from './database/statements.ts'
import {
  sqliteAuditInserter,
  sqliteDeliveryClaimer,
  sqliteEventAssigner,
  sqliteMemoryAppender,
} from './tables/table-writes.ts'
import { SqliteRunStore, type SqliteRunReads, type SqliteRunWrites } from './runs/run-store.ts'
import { sqliteBuildStore } from './tables/build-store.ts'
import { createTransaction } from './database/transaction.ts'
import { createTurnTransaction } from './database/turn-transaction.ts'

import type { StoreParts } from '../shared/schema/dialect.ts'
import type { SqliteParts } from './rows/parts.ts'
import type { QueueSource } from '../../load/fair-queue.ts'
import type { AuditLog } from '../../ports/audit-log.ts'
import type { ClaimedRun, ClaimRequest, RunQueue } from '../../ports/run-queue.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { Clock, Logger } from '@tutti/core'

/** Options of {@link openSqliteStore}. */
export interface SqliteStoreOptions {
  /** Measures leases, time limits and ages. */
  readonly clock: Pick<Clock, 'now'>
  readonly synchronous: Synchronous
  readonly logger: Logger
  /** Returns the caller of the operation that begins; callers take turns to write. */
  readonly source: () => QueueSource
  /** Passes of the event loop between a transaction that took long and the next one, at least 1. */
  readonly pause: number
}

/** The ports of an open store. Some operations have other arguments and results than in `RunStorage`: text and numbers. */
export interface SqlitePorts extends Pick<
  RunStorage,
  | 'threads'
  | 'commands'
  | 'outbox'
  | 'builds'
  | 'secrets'
  | 'externalEvents'
  | 'schedules'
  | 'memories'
  | 'reflections'
> {
  readonly runs: SqliteRunWrites & SqliteRunReads
  readonly queue: Omit<RunQueue, 'fleet' | 'hasStranded'> & {
    /** Claims due runs; see `Dispatcher.take`. */
    take(request: ClaimRequest): Promise<readonly ClaimedRun[]>
  }
  readonly events: SqliteEventLog
  readonly audit: Omit<AuditLog, 'joinsWrites'>
}

/** An open store. */
export interface SqliteStore {
  readonly ports: SqlitePorts
  readonly hub: NotificationHub
  /** Whether the last statement, and the last probe of the disk, succeeded. */
  readonly isAvailable: boolean
  /** Stores waiting writes, and releases the lock. */
  close(): void
}

/** An open store, on this thread or another one. */
export interface StoreClient {
  /** Calls a method of a port with plain data, and returns plain data. */
  call(port: keyof SqlitePorts, method: string, given: readonly unknown[]): Promise<unknown>
  readonly hub: Pick<NotificationHub, 'listen'>
  /** Whether the last statement, and the last probe of the disk, succeeded. */
  readonly isAvailable: boolean
  /** Stores waiting writes. The lock of the store is free when the promise resolves. */
  close(): Promise<void>
}

/** Calls a method of a port. Everything before its first `await` happens at once. Rejects if the method throws. */
export function callStore(
  { ports }: SqliteStore,
  { port, method, given }: StoreCall,
): Promise<unknown> {
  const target: object = ports[port]
  try {
    const called: unknown = Reflect.get(target, method)
    if (typeof called !== 'function') throw new TypeError(`The store has no ${port}.${method}`)
    return Reflect.apply(called, target, given)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** A call of a method of a port. */
export interface StoreCall {
  readonly port: keyof SqlitePorts
  readonly method: string
  readonly given: readonly unknown[]
}

/**
 * Opens the store in `directory`, and creates it if it does not exist.
 *
 * @throws as `openDatabase`.
 */
export function openSqliteStore(
  directory: string,
  { clock, synchronous, logger, source, pause }: SqliteStoreOptions,
): SqliteStore {
  const { database, close } = openDatabase(directory, synchronous)
  const hub = new NotificationHub()
  const transaction = createTransaction(database)
  const statements = new SqliteStatements(database, clock, transaction)
  const inTurn = createTurnTransaction(database, transaction, { source, pause })
  const disk = new DiskState({ database, directory, hub, logger })
  const parts: SqliteParts = {
    database,
    clock,
    transaction,
    inTurn,
    statements,
    rows: new RunRows(statements),
    owned: new OwnedRuns(),
    hub,
    disk,
  }
  const shared: StoreParts = { dialect: sqliteDialect, requests: statements, searches: statements }
  const { memories, reflections } = runMemory(shared, sqliteMemoryAppender(parts))
  return {
    ports: {
      runs: disk.guard(new SqliteRunStore(parts)),
      threads: disk.guard(threadStore(shared)),
      queue: disk.guard(new SqliteRunQueue(parts)),
      commands: disk.guard(new SqliteCommandQueue(parts)),
      events: disk.guard(sqliteEventLog(statements)),
      outbox: disk.guard(webhookOutbox(shared, sqliteDeliveryClaimer(parts))),
      audit: disk.guard(auditLog(shared, sqliteAuditInserter(parts))),
      builds: disk.guard(sqliteBuildStore(parts)),
      secrets: disk.guard(secretStore(shared)),
      externalEvents: disk.guard(new ExternalEventTable(shared, sqliteEventAssigner(parts))),
      schedules: disk.guard(scheduleStore(shared)),
      memories: disk.guard(memories),
      reflections: disk.guard(reflections),
    },
    hub,
    get isAvailable() {
      return disk.isAvailable
    },
    close() {
      disk.close()
      inTurn.flush()
      close()
    },
  }
}
