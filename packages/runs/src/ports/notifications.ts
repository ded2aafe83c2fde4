/**
 * Notifications between the processes of a store: hints that something has changed.
 *
 * RUNS-N1 to RUNS-N5 of `stores/postgres/notifications` apply to every implementation: notifications are sent after the
 * commit, may be lost or repeated, and reach only the processes concerned. `missed` follows when some may have been lost.
 */
import type { FollowQuery } from './event-log.ts'

/** A notification of a storage: something has changed. */
export type StoreNotification =
  /** Another process wrote events of a run, `from` to `to`. */
  | {
      readonly kind: 'events'
      readonly runId: string
      readonly from: number
      readonly to: number
    }
  /** A run waits for an owner. */
  | { readonly kind: 'ready' }
  /** A command was queued. */
  | { readonly kind: 'command'; readonly runId: string }
  | { readonly kind: 'answer'; readonly commandId: string }
  /** A delivery to a webhook is due. */
  | { readonly kind: 'delivery' }
  /** Notifications may have been missed: everything may have changed. */
  | { readonly kind: 'missed' }
  | { readonly kind: 'availability'; readonly isAvailable: boolean }

/** Notifications that go to other processes. */
export type SentNotification = Extract<
  StoreNotification,
  { kind: 'events' | 'ready' | 'command' | 'answer' | 'delivery' | 'missed' }
>

/** A notification and the channel of the process that it is for. */
export interface AddressedNotification {
  readonly channel: string
  readonly notification: SentNotification
}

/** Events of a run that this process has written. */
export type WrittenEvents = Extract<StoreNotification, { kind: 'events' }>

/** Carries notifications between processes. */
export interface Notifications {
  /** Sends notifications to processes, soon and at most once each. */
  send(notifications: readonly AddressedNotification[]): void
  /** Notifies the processes that follow the runs with `follow` that this process has written events. */
  publish(written: readonly WrittenEvents[]): void
  /**
   * Names the runs of whose events this process is notified from then on, in place of those before. Resolves with false if
   * the store has to remember them, because it alone notifies this process.
   */
  follow(query: FollowQuery): Promise<boolean>
}
