/**
 * Notifications by subject: a process subscribes to the runs that it follows, and to its own subject.
 *
 * NATS-E6 A command or an answer that no process confirms is sent over the store as well. Events are published to the
 *    subject of their run, and over the store to the processes that the store remembers as followers, because they cannot
 *    reach the cluster.
 */
import { decodeNotification, encodeNotification, type Names } from './subjects.ts'

import type {
  AddressedNotification,
  EngineHost,
  Notifications,
  WrittenEvents,
} from '@tutti/runs/adapter'
import type { FollowQuery, SentNotification } from '@tutti/runs/internal'
import type { Msg, Subscription } from '@nats-io/transport-node'
import type { LinkedClient, NatsLink } from './nats-link.ts'

/** Time to wait for the confirmation of a process, in milliseconds. */
const CONFIRM_MS = 500

/** Options of {@link NatsNotifications}. */
export interface NatsNotificationsOptions {
  readonly host: Pick<EngineHost, 'processName' | 'receive' | 'notifications'>
  readonly link: NatsLink
  readonly names: Names
}

/** The notifications of a process. */
export class NatsNotifications implements Notifications {
  readonly #options: NatsNotificationsOptions
  /** Subscriptions to events by subject. */
  readonly #followed = new Map<string, Subscription>()
  /** Subjects that each new client subscribes to. */
  #subjects: ReadonlySet<string> = new Set()

  constructor(options: NatsNotificationsOptions) {
    this.#options = options
  }

  /** Subscribes over the connection of a new client, which subscribes again when it reconnects. */
  onOpen({ connection }: LinkedClient): void {
    const { host, names } = this.#options
    this.#followed.clear()
    connection.subscribe(names.process(host.processName), {
      callback: (_, message) => {
        message.respond()
        host.receive([decodeNotification(message.string())])
      },
    })
    this.#subscribe(this.#subjects)
  }

  send(notifications: readonly AddressedNotification[]): void {
    const { host, link, names } = this.#options
    const client = link.ready
    const others: AddressedNotification[] = []
    for (const addressed of notifications) {
      const { channel, notification } = addressed
      if (client === undefined || notification.kind === 'events') others.push(addressed)
      else if (channel !== host.processName) {
        client.connection
          .request(names.process(channel), encodeNotification(notification), {
            timeout: CONFIRM_MS,
          })
          .catch(() => {
            host.notifications.send([addressed])
          })
      }
    }
    if (others.length > 0) host.notifications.send(others)
  }

  publish(written: readonly WrittenEvents[]): void {
    const { link, names } = this.#options
    const client = link.ready
    if (client === undefined) return
    for (const events of written) {
      client.connection.publish(names.eventsOf(events.runId), encodeNotification(events))
    }
  }

  async follow({ runIds, all }: FollowQuery): Promise<boolean> {
    const { names, link } = this.#options
    this.#subjects = new Set(all ? [names.allEvents] : runIds.map((runId) => names.eventsOf(runId)))
    const client = link.opened
    if (client === undefined) return false
    const hasNew = this.#subscribe(this.#subjects)
    if (link.ready === undefined) return false
    // Events that are written from then on must not be missed.
    if (hasNew) await client.connection.flush()
    return link.ready !== undefined
  }

  /** Subscribes to exactly these subjects. Returns whether some are new. */
  #subscribe(subjects: ReadonlySet<string>): boolean {
    const { host, link } = this.#options
    const { connection } = link.opened ?? {}
    if (connection === undefined) return false
    for (const [subject, subscription] of this.#followed) {
      if (subjects.has(subject)) continue
      subscription.unsubscribe()
      this.#followed.delete(subject)
    }
    const fresh = [...subjects].filter((subject) => !this.#followed.has(subject))
    const callback = (_: Error | null, message: Msg): void => {
      const notification: SentNotification = decodeNotification(message.string())
      host.receive([notification])
    }
    for (const subject of fresh)
      this.#followed.set(subject, connection.subscribe(subject, { callback }))
    return fresh.length > 0
  }
}
