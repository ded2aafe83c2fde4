/**
 * The messages between the thread that uses the embedded store and the thread that has its database. Everything in them
 * is plain data.
 *
 *   caller ─ calls of one turn of the event loop ─▶ thread of the store ─ transaction ─▶ disk
 *   caller ◀─ results of one transaction, notifications, log lines ─┘
 */
import type { StoreNotification } from '../../../ports/notifications.ts'
import type { Synchronous } from '../database/open-database.ts'
import type { StoreCall } from '../open-store.ts'
import type { Logger } from '@tutti/core'
import type { ErrorCode, FailureCode } from '@tutti/protocol'

/** Data with which the thread starts. */
export interface ThreadData {
  readonly directory: string
  readonly synchronous: Synchronous
}

/** A message to the thread of the store. */
export type ToThread =
  | {
      readonly kind: 'calls'
      /** The present by the clock of the caller, in milliseconds since 1970. */
      readonly now: number
      readonly calls: readonly Call[]
    }
  /** Stores everything that waits, and ends the thread. */
  | { readonly kind: 'close' }

/** A call of a method of a port. */
export interface Call extends StoreCall {
  readonly id: number
  /** The caller; see `WorkSource`. */
  readonly key: string
  /** Number of the caller's connection. */
  readonly connection: number
}

/** A message from the store's thread. */
export type FromThread =
  /** The store is open. */
  | { readonly kind: 'opened' }
  /** The store could not be opened, or could not be closed. */
  | { readonly kind: 'failed'; readonly error: EncodedError }
  | {
      readonly kind: 'results'
      readonly results: readonly Result[]
      readonly notifications: readonly StoreNotification[]
      readonly lines: readonly LogLine[]
    }
  /** The store is closed, and its lock is free. */
  | { readonly kind: 'closed' }

/** The result of a call. */
export type Result =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: EncodedError }

/** A line for the logger of the store. */
export interface LogLine {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

/** A thrown value. A structured clone of an error would lose its class, its code and its other fields. */
export type EncodedError =
  | { readonly kind: 'value'; readonly value: unknown }
  | {
      readonly kind: 'error'
      readonly name: string
      readonly message: string
      readonly stack: string | undefined
      readonly cause: EncodedError | undefined
      /** Present for a `TuttiError`. */
      readonly tutti?: EncodedTuttiFields
      /** Other own fields, such as the `errcode` of SQLite. */
      readonly fields: Readonly<Record<string, unknown>>
    }

export interface EncodedTuttiFields {
  readonly code: ErrorCode | FailureCode
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly retryable: boolean
}
