/**
 * Tells of what others did. What this process did itself is told at once; what others did comes over a
 * connection of its own that LISTENs.
 *
 *   commit ── NOTIFY ──▶ every other process ── listen(…) ──▶ its listeners
 *
 * RUNS-N1 Only what was committed is told of.
 * RUNS-N2 When the connection was lost, `missed` follows as soon as there is another.
 * RUNS-N3 A connection that does not answer is found out by asking it now and then.
 */
import { systemClock, type Logger } from '@tutti/core'
import { Client } from 'pg'

import { NotificationHub } from '../feed/notification-hub.ts'
import { connectionOptions, destroy, hashName, quoteName, waitForEnd } from './connections.ts'

import type { StoreNotification } from '../ports/run-storage.ts'

/** What it works with. */
export interface PostgresNotificationsOptions {
  readonly connectionString: string
  readonly schema: string
  readonly logger: Logger
  /** Called when the connection is lost. */
  readonly onLost: (error: unknown) => void
  /** How often the connection is asked whether it is there, and how long it may take. @default 5000 */
  readonly askMs?: number
}

const ASK_MS = 5_000

/** Waits before the next connection is tried, in milliseconds: doubled up to the longest. */
const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 2_000

/** Where the notifications of a schema go. */
export function toChannelName(schema: string): string {
  return `tutti_${hashName(schema).toString('hex').slice(0, 16)}`
}

/** Listeners, and the connection that listens for them. */
export class PostgresNotifications {
  /** Tells this store from others, so that it does not hear itself. */
  readonly origin = crypto.randomUUID()
  readonly #options: PostgresNotificationsOptions
  readonly #hub: NotificationHub
  #client: Client | undefined
  #isClosed = false
  #waitMs = FIRST_WAIT_MS
  #stopWaiting: (() => void) | undefined

  constructor(options: PostgresNotificationsOptions) {
    this.#options = options
    this.#hub = new NotificationHub((error) => {
      options.logger.error('A listener of the run store threw', { error })
    })
  }

  /** Begins to hear what others do. @throws {Error} of the driver when there is no connection. */
  async open(): Promise<void> {
    const { connectionString, schema, askMs = ASK_MS } = this.#options
    const client = new Client({ ...connectionOptions(connectionString), query_timeout: askMs })
    this.#client = client
    client.on('error', (error) => {
      this.#lost(client, error)
    })
    client.on('end', () => {
      this.#lost(client, new Error('The connection that listens was ended'))
    })
    client.on('notification', ({ payload = '' }) => {
      this.#hub.notifyNow(fromPayload(this.origin, payload))
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${quoteName(toChannelName(schema))}`)
    } catch (error) {
      if (this.#client === client) this.#client = undefined
      destroy(client)
      throw error
    }
    this.#waitMs = FIRST_WAIT_MS
    this.#askLater(client)
  }

  /** Adds a listener, until the returned function is called. */
  listen(listener: (notification: StoreNotification) => void): () => void {
    return this.#hub.listen(listener)
  }

  /** Tells the listeners of this process; after the caller has gone on. */
  notify(notifications: readonly StoreNotification[]): void {
    this.#hub.notify(notifications)
  }

  /** Hears and tells nothing any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#hub.close()
    this.#stopWaiting?.()
    const client = this.#client
    if (client === undefined) return
    await waitForEnd(client.end())
    destroy(client)
  }

  #askLater(client: Client): void {
    this.#stopWaiting = systemClock.after(this.#options.askMs ?? ASK_MS, () => {
      client.query('SELECT 1').then(
        () => {
          if (this.#client === client && !this.#isClosed) this.#askLater(client)
        },
        (error: unknown) => {
          this.#lost(client, error)
        },
      )
    })
  }

  #lost(client: Client, error: unknown): void {
    if (this.#client !== client || this.#isClosed) return
    this.#client = undefined
    this.#stopWaiting?.()
    destroy(client)
    this.#options.onLost(error)
    this.#openLater()
  }

  #openLater(): void {
    this.#stopWaiting = systemClock.after(this.#waitMs, () => {
      this.open().then(
        () => {
          this.notify([{ kind: 'missed' }])
        },
        () => {
          if (!this.#isClosed) this.#openLater()
        },
      )
    })
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS)
  }
}

/** Notifications that go to other processes. */
export type SentNotification = Extract<
  StoreNotification,
  { kind: 'events' | 'ready' | 'signal' | 'answer' | 'delivery' | 'missed' }
>

/** Below the limit of Postgres, in bytes. @see https://www.postgresql.org/docs/current/sql-notify.html */
const LONGEST_PAYLOAD = 7_500

/** The payloads that hold `notifications`. One that is too long by itself becomes `missed`. */
export function toPayloads(
  origin: string,
  notifications: readonly SentNotification[],
): readonly string[] {
  const payloads: string[] = []
  let items: string[] = []
  let bytes = 0
  const close = (): void => {
    if (items.length > 0)
      payloads.push(`{"from":${JSON.stringify(origin)},"items":[${items.join()}]}`)
    items = []
    bytes = 0
  }
  const room = LONGEST_PAYLOAD - Buffer.byteLength(origin) - 30
  for (const notification of notifications) {
    const item = JSON.stringify(notification)
    const isLong = Buffer.byteLength(item) > room
    const fitting = isLong ? '{"kind":"missed"}' : item
    if (bytes + Buffer.byteLength(fitting) + 1 > room) close()
    items.push(fitting)
    bytes += Buffer.byteLength(fitting) + 1
  }
  close()
  return payloads
}

/** The notifications of a payload, unless it comes from `origin` itself; `missed` when it cannot be read. */
export function fromPayload(origin: string, payload: string): readonly SentNotification[] {
  try {
    // NOTE: only stores of this kind write to this channel; what others send is found out below.
    const { from, items } = JSON.parse(payload) as {
      from: string
      items: readonly SentNotification[]
    }
    if (from === origin) return []
    return Array.isArray(items) ? items : [{ kind: 'missed' }]
  } catch {
    return [{ kind: 'missed' }]
  }
}
