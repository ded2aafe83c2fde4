/** A storage: all of its ports, and its notifications. */
import type { BuildStore } from './build-store.ts'
import type { AuditLog } from './audit-log.ts'
import type { ExternalEventStore } from './external-events.ts'
import type { StoredEventLog } from './event-log.ts'
import type { RunMemory } from './run-memory.ts'
import type { RunQueue } from './run-queue.ts'
import type { CommandQueue } from './command-queue.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { StoreNotification } from './notifications.ts'
import type { RunStore } from './run-store.ts'
import type { ScheduleStore } from './schedule-store.ts'
import type { SecretStore } from './secret-store.ts'
import type { ThreadStore } from './thread-store.ts'
import type { WebhookOutbox } from './webhook-outbox.ts'
import type { Clock } from '@tutti/core'

/**
 * The port of a store. An adapter implements it and passes `runStorageCases`.
 *
 * Disposing it closes connections after the writes in progress.
 */
export interface RunStorage extends RunMemory, AsyncDisposable {
  readonly runs: RunStore
  readonly threads: ThreadStore
  readonly queue: RunQueue
  readonly dispatcher: Dispatcher
  readonly commands: CommandQueue
  readonly events: StoredEventLog
  readonly outbox: WebhookOutbox
  readonly audit: AuditLog
  readonly builds: BuildStore
  readonly secrets: SecretStore
  readonly externalEvents: ExternalEventStore
  readonly schedules: ScheduleStore
  /**
   * Name of this process, unique among those that share the storage. The names of its lease owners start with it, so that
   * commands for their runs are notified to this process only.
   */
  readonly processName: string
  /** Whether several processes can open it. */
  readonly isShared: boolean
  /**
   * The clock that the storage compares instants with, as this process has measured it. A service computes start times,
   * deadlines and the times of events with it, so that all processes that share the storage agree.
   */
  readonly clock: Clock
  /** Whether the last known attempt to reach it succeeded. */
  readonly isAvailable: boolean
  /**
   * Calls `listener` with notifications until the returned function is called. Notifications may be redundant. When
   * some may have been lost, `missed` follows.
   */
  listen(listener: (notification: StoreNotification) => void): () => void
}
