/**
 * An engine that dispatches runs and carries notifications for a shared store, such as a message broker. The store calls
 * it after each commit; the engine calls the parts of the store.
 *
 *   postgresRunStorage({ engine }) ─ connect(host) ─▶ Dispatcher, Notifications
 */
import type { Logger } from '@tutti/core'

import type { Dispatcher, OfferOutbox } from './dispatcher.ts'
import type { Notifications, StoreNotification } from './notifications.ts'
import type { RunQueue } from './run-queue.ts'

/** An engine, not yet connected. It must not fail while its servers cannot be reached. */
export type ConnectEngine = (host: EngineHost) => DispatchEngine

/** A connected engine, or one that is connecting. */
export interface DispatchEngine extends AsyncDisposable {
  readonly dispatcher: Dispatcher
  readonly notifications: Notifications
}

/** The store that an engine serves. */
export interface EngineHost {
  /** Name of this process; see `RunStorage.processName`. Commands are addressed to it. */
  readonly processName: string
  readonly queue: Pick<RunQueue, 'claimOffered'>
  readonly outbox: OfferOutbox
  /** The dispatcher of the store, for what the engine does not offer (RUNS-DP6). */
  readonly dispatcher: Pick<Dispatcher, 'take'>
  /** The notifications of the store, for processes that the engine does not reach. */
  readonly notifications: Pick<Notifications, 'send'>
  /** Notifies the listeners in this process. */
  receive(notifications: readonly StoreNotification[]): void
  readonly logger: Logger
}
