/** The embedded store: SQLite in one file, no service. Its database may have its own thread (`thread/`). */
import { availableParallelism } from 'node:os'

import { silentLogger } from '@tutti/core/internal'

import { steadyClock } from '../../domain/steady-clock.ts'
import { storeDispatcher } from '../../ports/dispatcher.ts'
import { clientPorts } from './client-ports.ts'
import { openHere } from './local-store.ts'
import { openThread } from './thread/thread-client.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { Clock, Logger } from '@tutti/core'
import type { Synchronous } from './database/open-database.ts'
import type { StoreClient } from './open-store.ts'

/** Clock, durability and logger of the embedded store. */
export interface SqliteRunStorageOptions {
  /**
   * Measures leases, time limits and ages. @default the clock of this machine, without its steps while the process lives
   */
  readonly clock?: Clock
  /**
   * Time at which a commit is on disk. FULL: before it resolves. NORMAL: soon after; a power failure or a kernel crash
   * loses the last moments, but the death of the process loses nothing. @default 'FULL'
   */
  readonly synchronous?: Synchronous
  /**
   * Whether the database has its own thread, so that the event loop never waits for the disk. Messages between threads
   * cost processor time: on a machine without a free core, fewer runs are executed per second.
   * @default whether the process may use more than two cores
   */
  readonly ownThread?: boolean
  /** Logs when the store can no longer be written, and when it can again. @default no logging */
  readonly logger?: Logger
}

/**
 * Number of cores that requests and runs keep busy under load, with the collector and the compiler of V8. The server's
 * `compile-on-main-thread.ts` has the same number, because it may load nothing before it replaces the process.
 */
const BUSY_CORES = 2

const SYNCHRONOUS: readonly unknown[] = ['FULL', 'NORMAL'] satisfies readonly Synchronous[]

/**
 * Opens the embedded store in `directory`, and creates it if it does not exist. Only one process can open it. If the
 * store's own thread fails, as by a lack of memory, all operations are rejected with STORE_UNAVAILABLE and the process
 * ends with an uncaught exception.
 *
 * @throws {TuttiError} STORE_LOCKED when another process has it open; SCHEMA_TOO_NEW when a newer release has written
 * it; STORE_UNAVAILABLE when the directory cannot be used.
 * @throws {RangeError} when `synchronous` is neither FULL nor NORMAL.
 */
export async function sqliteRunStorage(
  directory: string,
  {
    clock = steadyClock,
    synchronous = 'FULL',
    ownThread = availableParallelism() > BUSY_CORES,
    logger = silentLogger,
  }: SqliteRunStorageOptions = {},
): Promise<RunStorage> {
  if (!SYNCHRONOUS.includes(synchronous)) {
    throw new RangeError(
      `synchronous must be 'FULL' or 'NORMAL', got ${JSON.stringify(synchronous)}`,
    )
  }
  const open = ownThread ? openThread : openHere
  return toRunStorage(await open({ directory, synchronous, clock, logger }), clock)
}

/** Returns the storage over an open store. */
export function toRunStorage(client: StoreClient, clock: Clock): RunStorage {
  const { take, ...ports } = clientPorts(client)
  return {
    ...ports,
    dispatcher: storeDispatcher(take),
    processName: `${process.pid}`,
    isShared: false,
    clock,
    get isAvailable() {
      return client.isAvailable
    },
    listen: (listener) => client.hub.listen(listener),
    [Symbol.asyncDispose]: () => client.close(),
  }
}
