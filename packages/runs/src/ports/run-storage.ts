/** A place where runs are kept: the ports together, and what it tells by itself. */
import type { AuditLog } from './audit-log.ts'
import type { StoredEventLog } from './event-log.ts'
import type { RunMemory } from './run-memory.ts'
import type { RunQueue } from './run-queue.ts'
import type { CommandQueue } from './command-queue.ts'
import type { RunStore } from './run-store.ts'
import type { SecretStore } from './secret-store.ts'
import type { WebhookOutbox } from './webhook-outbox.ts'

/** A place where runs are kept. */
export interface RunStorage extends RunMemory, AsyncDisposable {
  readonly runs: RunStore
  readonly queue: RunQueue
  readonly commands: CommandQueue
  readonly events: StoredEventLog
  readonly outbox: WebhookOutbox
  readonly audit: AuditLog
  readonly secrets: SecretStore
  /** Whether other processes may have it open too. */
  readonly isShared: boolean
  /** Whether it can be reached, as far as is known. */
  readonly isAvailable: boolean
  /**
   * Tells of what others did, until the returned function is called. It may tell of too much, never of too
   * little: when something may have been missed it says so.
   */
  listen(listener: (notice: StoreNotification) => void): () => void
}

/** Something to look at. */
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
  /** A command was queued. The names `signal` and `signalId` are those of earlier versions, which hear them too. */
  | { readonly kind: 'signal'; readonly runId: string }
  | { readonly kind: 'answer'; readonly signalId: string }
  /** A webhook has something to be told. */
  | { readonly kind: 'delivery' }
  /** Notices may have been missed: everything may have changed. */
  | { readonly kind: 'missed' }
  | { readonly kind: 'availability'; readonly isAvailable: boolean }
