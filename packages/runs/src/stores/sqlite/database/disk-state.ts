/**
 * Tracks whether the file of the embedded store can be written. A statement with a temporary failure makes the store
 * unavailable; from then on a probe writes to its directory and to its file until both succeed.
 *
 * RUNS-P19 A full or read-only disk, an I/O error and a lock of another program make the store unavailable, as a lost
 *    connection does with Postgres. Its operations throw STORE_UNAVAILABLE and can be repeated.
 * RUNS-P20 The store is available again when the probe succeeds, without a restart.
 */
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { errorMessage, systemClock, TuttiError, type Logger } from '@tutti/core/basics'

import type { NotificationHub } from '../../shared/notification-hub.ts'
import type { DatabaseSync } from 'node:sqlite'

/**
 * Primary result codes of failures that can pass: BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL.
 *
 * @see https://sqlite.org/rescode.html
 */
const PASSING_CODES: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14, 15])

/** Delay between probes, in milliseconds. */
const PROBE_MS = 500

/** Size of the file that a probe writes, in bytes: more than most commits need. */
const PROBE_BYTES = 1_048_576

/** Options of {@link DiskState}. */
export interface DiskStateOptions {
  readonly database: DatabaseSync
  readonly directory: string
  /** Notified of each change, and with `missed` when the store is available again. */
  readonly hub: NotificationHub
  readonly logger: Logger
}

/** Whether the store can be written. */
export class DiskState {
  readonly #options: DiskStateOptions
  #isAvailable = true
  #isClosed = false
  #stopWaiting: (() => void) | undefined

  constructor(options: DiskStateOptions) {
    this.#options = options
  }

  /** Whether the last statement and the last probe succeeded. */
  get isAvailable(): boolean {
    return this.#isAvailable
  }

  /** Converts a failure that can pass to STORE_UNAVAILABLE, and probes from then on; returns any other error unchanged. */
  judge(error: unknown): unknown {
    if (!isPassing(error)) return error
    this.#reportFailure(error)
    return new TuttiError(
      'STORE_UNAVAILABLE',
      `Cannot use the run store in "${this.#options.directory}": ${errorMessage(error)}`,
      { cause: error, retryable: true },
    )
  }

  /** Returns a port whose methods throw what {@link judge} returns. */
  guard<P extends object>(port: P): P {
    const methods = new Map<unknown, unknown>()
    return new Proxy(port, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        const known = methods.get(value)
        if (known !== undefined) return known
        const method = this.#guardMethod((given) => Reflect.apply(value, target, given))
        methods.set(value, method)
        return method
      },
    })
  }

  /** Stops probing. */
  close(): void {
    this.#isClosed = true
    this.#stopWaiting?.()
  }

  #guardMethod(call: (given: readonly unknown[]) => unknown): (...given: unknown[]) => unknown {
    const rethrow = (error: unknown): never => {
      throw this.judge(error)
    }
    return (...given) => {
      try {
        const result = call(given)
        return result instanceof Promise ? result.catch(rethrow) : result
      } catch (error) {
        return rethrow(error)
      }
    }
  }

  #reportFailure(error: unknown): void {
    if (!this.#isAvailable || this.#isClosed) return
    this.#isAvailable = false
    const { directory, hub, logger } = this.#options
    logger.error('The run store cannot be used', { directory, reason: errorMessage(error) })
    hub.notify([{ kind: 'availability', isAvailable: false }])
    this.#probeLater()
  }

  #probeLater(): void {
    this.#stopWaiting = systemClock.after(PROBE_MS, () => void this.#probe())
  }

  async #probe(): Promise<void> {
    const works = await this.#canWrite()
    if (this.#isClosed) return
    if (!works) {
      this.#probeLater()
      return
    }
    this.#isAvailable = true
    const { directory, hub, logger } = this.#options
    logger.info('The run store can be used again', { directory })
    hub.notify([{ kind: 'availability', isAvailable: true }, { kind: 'missed' }])
  }

  async #canWrite(): Promise<boolean> {
    const { database, directory } = this.#options
    const path = join(directory, 'runs.probe')
    try {
      await writeDurably(path)
      await rm(path, { force: true })
      if (!this.#isClosed) rewriteHeader(database)
      return true
    } catch {
      await rm(path, { force: true }).catch(() => undefined)
      return false
    }
  }
}

/** Whether an error of `node:sqlite` can pass; extended codes contain the primary one in the lowest byte. */
function isPassing(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return false
  return typeof error.errcode === 'number' && PASSING_CODES.has(error.errcode & 0xff)
}

async function writeDurably(path: string): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(Buffer.alloc(PROBE_BYTES))
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Commits a page that already has these contents. */
function rewriteHeader(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  database.exec('BEGIN IMMEDIATE')
  try {
    database.exec(`PRAGMA user_version = ${version}; COMMIT`)
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
