/**
 * Sends notifications to other processes after the commit (RUNS-N4). The first is sent at once; later ones are gathered
 * and sent together (RUNS-N6). A failure never reaches the caller. The processes to wake for runs are chosen by
 * the same statement, at random, from the leases.
 */
import { systemClock, type Clock, type Logger } from '@tutti/core'

import { channelSql, toPayloads } from './notifications.ts'
import { toColumn } from '../database/text.ts'

import type { AddressedNotification, SentNotification } from '../../../ports/notifications.ts'
import type { DatabaseSession } from '../database/database.ts'

/** Options of {@link NotificationSender}. */
export interface NotificationSenderOptions {
  /** The channel of this process, to which it does not send. */
  readonly channel: string
  /** The quoted name of the schema. */
  readonly schema: string
  readonly query: DatabaseSession['query']
  readonly logger: Logger
  /** Returns the time for which notifications are gathered after each statement, in milliseconds. */
  readonly gatherMs: () => number
  /** Returns whether others are notified of events; otherwise they poll. */
  readonly notifiesOfEvents: () => boolean
  /** @default systemClock */
  readonly clock?: Clock
}

/**
 * Builds the statement. `$1` channels and `$2` the payload for each; `$3` ensembles, and `$4` the number of processes to
 * wake for each with `$5`; `$6` the channel of this process. Without waiting for the disk, commits that notify do not wait
 * for each other.
 */
function notifySql(schema: string): string {
  return `
    SELECT set_config('synchronous_commit', 'off', true), pg_notify(channel, payload) FROM (
      SELECT channel, payload FROM unnest($1::text[], $2::text[]) AS addressed (channel, payload)
      UNION ALL
      SELECT DISTINCT chosen.channel, $5::text
      FROM unnest($3::text[], $4::int8[]) AS due (ensemble, runs) CROSS JOIN LATERAL (
        SELECT ${channelSql('owner')} AS channel FROM ${schema}.leases
        WHERE free AND expires_at > statement_timestamp() AND ${channelSql('owner')} <> $6::text
          AND (ensembles IS NULL OR due.ensemble = ANY(ensembles))
        ORDER BY random() LIMIT due.runs) AS chosen
    ) AS sent`
}

/** Gathers and sends notifications. */
export class NotificationSender {
  readonly #options: NotificationSenderOptions
  /** Waiting notifications by channel, and in each by key; equal ones have one key. */
  #waiting = new Map<string, Map<string, SentNotification>>()
  /** Number of processes to wake by ensemble. */
  #wakes = new Map<string, number>()
  #isSending = false
  #isClosed = false
  #stopTimer: (() => void) | undefined
  /** Number of statements that failed since the last one that succeeded. */
  #failures = 0

  constructor(options: NotificationSenderOptions) {
    this.#options = options
  }

  /**
   * Sends notifications to other processes, soon and at most once each. For each of the ensembles, wakes one that has a
   * free slot and knows the ensemble.
   */
  send(notifications: readonly AddressedNotification[], ensembles: readonly string[] = []): void {
    for (const ensemble of ensembles) {
      this.#wakes.set(ensemble, (this.#wakes.get(ensemble) ?? 0) + 1)
    }
    const { channel: own, notifiesOfEvents } = this.#options
    const isSent = ({ channel, notification }: AddressedNotification): boolean =>
      channel !== own && (notification.kind !== 'events' || notifiesOfEvents())
    for (const { channel, notification } of notifications.filter(isSent)) {
      this.#add(channel, notification)
    }
    this.#flushSoon()
  }

  /** Drops what is waiting. */
  close(): void {
    this.#isClosed = true
    this.#stopTimer?.()
    this.#waiting.clear()
    this.#wakes.clear()
  }

  #add(channel: string, notification: SentNotification): void {
    const waiting = this.#waiting.get(channel) ?? new Map<string, SentNotification>()
    this.#waiting.set(channel, waiting)
    const key =
      'runId' in notification
        ? `${notification.kind} ${notification.runId}`
        : JSON.stringify(notification)
    waiting.set(key, joinRanges(waiting.get(key), notification))
  }

  #flushSoon(): void {
    const isEmpty = this.#waiting.size === 0 && this.#wakes.size === 0
    if (isEmpty || this.#isSending || this.#stopTimer !== undefined || this.#isClosed) return
    this.#isSending = true
    const { channel: from, schema, query } = this.#options
    const sent = [...this.#waiting].flatMap(([channel, waiting]) =>
      toPayloads(from, [...waiting.values()]).map((payload) => ({ channel, payload })),
    )
    const wakes = [...this.#wakes]
    this.#waiting.clear()
    this.#wakes.clear()
    query(notifySql(schema), [
      sent.map(({ channel }) => channel),
      sent.map(({ payload }) => payload),
      wakes.map(([ensemble]) => toColumn(ensemble)),
      wakes.map(([, runs]) => runs),
      toPayloads(from, [{ kind: 'ready' }])[0],
      from,
    ])
      .then(
        () => {
          this.#reportSent()
        },
        (error: unknown) => {
          this.#reportFailed(error)
        },
      )
      .finally(() => {
        this.#isSending = false
        this.#waitForMore()
      })
  }

  #waitForMore(): void {
    if (this.#isClosed) return
    const { clock = systemClock, gatherMs } = this.#options
    this.#stopTimer = clock.after(gatherMs(), () => {
      this.#stopTimer = undefined
      this.#flushSoon()
    })
  }

  #reportSent(): void {
    const { logger } = this.#options
    if (this.#failures > 0)
      logger.info('Notifications are sent again', { failures: this.#failures })
    this.#failures = 0
  }

  #reportFailed(error: unknown): void {
    this.#failures += 1
    if (this.#failures > 1 || this.#isClosed) return
    this.#options.logger.warn('Failed to notify other processes; their readers poll', { error })
  }
}

/** Joins the ranges of two notifications of events of one run; otherwise the later one counts. */
function joinRanges(
  earlier: SentNotification | undefined,
  later: SentNotification,
): SentNotification {
  if (earlier?.kind !== 'events' || later.kind !== 'events') return later
  return { ...later, from: Math.min(earlier.from, later.from), to: Math.max(earlier.to, later.to) }
}
