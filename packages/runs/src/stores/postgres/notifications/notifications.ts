/**
 * Notifications between processes. Listeners receive notifications of this process directly, and those of other processes
 * over a separate connection with LISTEN. Every process listens on its own channel.
 *
 *   commit ─▶ NotificationSender ── NOTIFY ──▶ the processes concerned ── listen(…) ──▶ their listeners
 *
 * RUNS-N1 Notifications are only sent for committed changes.
 * RUNS-N2 After a lost connection, `missed` follows as soon as there is a new connection.
 * RUNS-N3 A dead connection is detected by polling it, rarely while this process writes no run: it then receives no
 *    commands, and other processes find the runs that it is not woken for.
 * RUNS-N4 Notifications are hints. They are sent after the commit, by a separate statement that does not wait for the
 *    disk. One that cannot be sent is dropped, and readers find the change when they poll.
 * RUNS-N5 A process is notified only of runs that it follows, of answers to its own commands, and of work that it may do.
 * RUNS-N6 A statement that notifies wakes the connection of every process that listens to the database, each in a
 *    transaction. The more processes there are, the longer each gathers its notifications: 1 ms per process, from 25 ms up
 *    to 500 ms. The first notification after a pause is sent at once. A fleet of more than 50 does not notify of events,
 *    whose few readers poll five times a second instead.
 */
import { systemClock, type Logger } from '@tutti/core'
import { backoffMs } from '@tutti/core/internal'
import { Client } from 'pg'

import { NotificationHub } from '../../shared/notification-hub.ts'
import {
  connectionOptions,
  destroy,
  hashName,
  quoteName,
  awaitClosing,
} from '../database/connections.ts'
import { CLOCK_SQL, type DatabaseClock } from '../database/database-clock.ts'

import type { SentNotification, StoreNotification } from '../../../ports/notifications.ts'

/** Options of {@link PostgresNotifications}. */
export interface PostgresNotificationsOptions {
  readonly connectionString: string
  readonly schema: string
  readonly logger: Logger
  /** Reads the clock of the database when the connection opens, and with each poll. */
  readonly clock: Pick<DatabaseClock, 'measure'>
  /** Called when the connection is lost. */
  readonly onLost: (error: unknown) => void
  /** Interval and time limit of the connection's polls, in milliseconds. @default 5000 */
  readonly pollMs?: number
  /** Whether this process writes no run, so that one poll in {@link IDLE_POLLS} is enough. @default never */
  readonly isIdle?: () => boolean
}

const POLL_MS = 5_000

/** Number of intervals between polls while the process is idle. */
const IDLE_POLLS = 24

/** Delays before reconnects. */
const BACKOFF = { firstMs: 50, maxMs: 2_000 }

/** Returns the name of the channel on which every process of a schema listens. */
export function toSharedChannel(schema: string): string {
  return `tutti_${hashName(schema).toString('hex').slice(0, 16)}`
}

/** Returns the channel of the process of a lease owner; undefined when its name has none. */
export function toOwnerChannel(owner: unknown): string | undefined {
  return /^tutti_\d+_[0-9a-f]{32}/.exec(String(owner))?.[0]
}

/** Returns the SQL expression for the channel of the process of a lease owner; NULL as for {@link toOwnerChannel}. */
export function channelSql(owner: string): string {
  return `substring(${owner} FROM '^tutti_[0-9]+_[0-9a-f]{32}')`
}

/** Listeners, and the connection that listens for them. */
export class PostgresNotifications {
  /** The channel of this process; its name contains the process id, for people who look for a process. */
  readonly channel = `tutti_${process.pid}_${crypto.randomUUID().replaceAll('-', '')}`
  readonly #options: PostgresNotificationsOptions
  readonly #hub: NotificationHub
  #client: Client | undefined
  #isClosed = false
  /** Reconnects that were tried since the last connection. */
  #reconnects = 0
  #stopWaiting: (() => void) | undefined

  constructor(options: PostgresNotificationsOptions) {
    this.#options = options
    this.#hub = new NotificationHub((error) => {
      options.logger.error('A run store listener threw', { error })
    })
  }

  /** Starts to listen. @throws {Error} of the driver when there is no connection. */
  async open(): Promise<void> {
    const { connectionString, schema, pollMs = POLL_MS } = this.#options
    const client = new Client({ ...connectionOptions(connectionString), query_timeout: pollMs })
    this.#client = client
    client.on('error', (error) => {
      this.#lost(client, error)
    })
    client.on('end', () => {
      this.#lost(client, new Error('The LISTEN connection was closed'))
    })
    client.on('notification', ({ payload = '' }) => {
      this.#hub.notifyNow(fromPayload(this.channel, payload))
    })
    try {
      await client.connect()
      const channels = [this.channel, toSharedChannel(schema)]
      await this.#poll(client, channels.map((channel) => `; LISTEN ${quoteName(channel)}`).join(''))
    } catch (error) {
      if (this.#client === client) this.#client = undefined
      destroy(client)
      throw error
    }
    this.#reconnects = 0
    this.#pollLater(client, 1)
  }

  /** Adds a listener, until the returned function is called. */
  listen(listener: (notification: StoreNotification) => void): () => void {
    return this.#hub.listen(listener)
  }

  /** Notifies the listeners of this process in a microtask, after the caller has continued. */
  notify(notifications: readonly StoreNotification[]): void {
    this.#hub.notify(notifications)
  }

  /** Stops listening and removes all listeners. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#hub.close()
    this.#stopWaiting?.()
    const client = this.#client
    if (client === undefined) return
    await awaitClosing(client.end())
    destroy(client)
  }

  /** Polls the connection after some intervals, given that this is the `n`-th since the last poll. */
  #pollLater(client: Client, n: number): void {
    const { pollMs = POLL_MS, isIdle } = this.#options
    this.#stopWaiting = systemClock.after(pollMs, () => {
      if (n < IDLE_POLLS && isIdle?.() === true) {
        this.#pollLater(client, n + 1)
        return
      }
      this.#poll(client).then(
        () => {
          if (this.#client === client && !this.#isClosed) this.#pollLater(client, 1)
        },
        (error: unknown) => {
          this.#lost(client, error)
        },
      )
    })
  }

  /** Reads the clock of the database, and executes `more`. */
  #poll(client: Client, more = ''): Promise<void> {
    return this.#options.clock.measure(async () => {
      const [result] = [await client.query<{ now: number }>(`${CLOCK_SQL}${more}`)].flat()
      return Number(result?.rows[0]?.now)
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
    this.#stopWaiting = systemClock.after(backoffMs(this.#reconnects, BACKOFF), () => {
      this.open().then(
        () => {
          this.notify([{ kind: 'missed' }])
        },
        () => {
          if (!this.#isClosed) this.#openLater()
        },
      )
    })
    this.#reconnects += 1
  }
}

/** Below the limit of Postgres, in bytes. @see https://www.postgresql.org/docs/current/sql-notify.html */
const MAX_PAYLOAD_BYTES = 7_500

/** Splits `notifications` into payloads. A single notification that is too long becomes `missed`. */
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
  const room = MAX_PAYLOAD_BYTES - Buffer.byteLength(origin) - 30
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

/** Parses a payload. Returns none if it is from `origin` itself, and `missed` if it cannot be parsed. */
export function fromPayload(origin: string, payload: string): readonly SentNotification[] {
  try {
    // NOTE: only stores of this kind write to this channel; other payloads are detected below.
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
