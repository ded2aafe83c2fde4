/**
 * Whether the database can be reached. A statement or the listener that meets a lost connection says so;
 * from then on a probe asks until the database answers.
 */
import { systemClock, type Logger } from '@tutti/core'
import { Client } from 'pg'

import { connectionOptions, destroy } from './connections.ts'

import type { StoreNotification } from '../ports/run-storage.ts'

/** What it works with. */
export interface AvailabilityOptions {
  readonly connectionString: string
  readonly logger: Logger
  /** Told of each change, and of what may have been missed. */
  readonly notify: (notifications: readonly StoreNotification[]) => void
}

/** How long to wait between probes, in milliseconds. */
const PROBE_MS = 500

/** How long a probe may take, in milliseconds. */
const PROBE_LIMIT_MS = 2_000

/** Whether the database can be reached, as far as is known. */
export class Availability {
  readonly #options: AvailabilityOptions
  #isAvailable = true
  #isClosed = false
  #client: Client | undefined
  #stopWaiting: (() => void) | undefined

  constructor(options: AvailabilityOptions) {
    this.#options = options
  }

  get isAvailable(): boolean {
    return this.#isAvailable
  }

  /** Somebody met a lost connection. */
  lost(error: unknown): void {
    if (!this.#isAvailable || this.#isClosed) return
    this.#isAvailable = false
    this.#options.logger.warn('Postgres is unreachable', { error })
    this.#options.notify([{ kind: 'availability', isAvailable: false }])
    void this.#probe()
  }

  /** Asks no more. */
  close(): void {
    this.#isClosed = true
    this.#stopWaiting?.()
    if (this.#client !== undefined) destroy(this.#client)
  }

  async #probe(): Promise<void> {
    const answers = await this.#asks()
    if (this.#isClosed) return
    if (!answers) {
      this.#stopWaiting = systemClock.after(PROBE_MS, () => void this.#probe())
      return
    }
    this.#isAvailable = true
    this.#options.logger.info('Postgres is reachable again')
    this.#options.notify([{ kind: 'availability', isAvailable: true }, { kind: 'missed' }])
  }

  async #asks(): Promise<boolean> {
    const client = new Client({
      ...connectionOptions(this.#options.connectionString),
      connectionTimeoutMillis: PROBE_LIMIT_MS,
      query_timeout: PROBE_LIMIT_MS,
    })
    client.on('error', () => undefined)
    this.#client = client
    try {
      await client.connect()
      await client.query('SELECT 1')
      void client.end().catch(() => undefined)
      return true
    } catch {
      destroy(client)
      return false
    }
  }
}
