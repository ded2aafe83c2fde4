/**
 * Tracks whether the database can be reached. Statements and the listener report lost connections; then a probe polls
 * the database until it answers.
 */
import { systemClock, type Logger } from '@tutti/core'
import { Client } from 'pg'

import { connectionOptions, destroy } from './connections.ts'

import type { StoreNotification } from '../../../ports/notifications.ts'

/** Options of {@link Availability}. */
export interface AvailabilityOptions {
  readonly connectionString: string
  readonly logger: Logger
  /** Called with a notification of each change, and with `missed` when the database is back. */
  readonly notify: (notifications: readonly StoreNotification[]) => void
}

/** Delay between probes, in milliseconds. */
const PROBE_MS = 500

/** Maximum time of a probe, in milliseconds. */
const PROBE_LIMIT_MS = 2_000

/** Tracks whether the database can be reached. */
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

  /** Reports a lost connection. */
  reportLost(error: unknown): void {
    if (!this.#isAvailable || this.#isClosed) return
    this.#isAvailable = false
    this.#options.logger.warn('Postgres is unreachable', { error })
    this.#options.notify([{ kind: 'availability', isAvailable: false }])
    void this.#probe()
  }

  /** Stops probing. */
  close(): void {
    this.#isClosed = true
    this.#stopWaiting?.()
    if (this.#client !== undefined) destroy(this.#client)
  }

  async #probe(): Promise<void> {
    const answers = await this.#isAnswering()
    if (this.#isClosed) return
    if (!answers) {
      this.#stopWaiting = systemClock.after(PROBE_MS, () => void this.#probe())
      return
    }
    this.#isAvailable = true
    this.#options.logger.info('Postgres is reachable again')
    this.#options.notify([{ kind: 'availability', isAvailable: true }, { kind: 'missed' }])
  }

  async #isAnswering(): Promise<boolean> {
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
