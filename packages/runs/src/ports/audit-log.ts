/**
 * The audit log. The store numbers entries in the order in which it stores them.
 *
 * RUNS-A1 Entries of one call are stored in one transaction, in their order.
 * RUNS-A2 A list is newest first. A page continues where the last one ended, even if entries were added since.
 * RUNS-A3 Entries are retained when their run is deleted.
 */
import type { AuditEntry } from '@tutti/protocol'
import type { AuditQuery } from '@tutti/protocol/internal'

/** Stores the actions of each actor. */
export interface AuditLog {
  append(entries: readonly NewAuditEntry[]): Promise<void>
  /** Whether `append` waits for another write to join it, so that its caller need not gather entries. @default false */
  readonly joinsWrites?: boolean
  /** Returns matching entries, newest first. A page ends after `limit` entries, or the entry that reaches `maxBytes`. */
  list(query: AuditPageQuery): Promise<readonly AuditEntry[]>
  /** Deletes all entries except the newest `keep`. */
  trim(keep: number): Promise<void>
}

/** Selects a page of entries. */
export interface AuditPageQuery extends AuditQuery {
  readonly limit: number
  /** Size of the stored entries of a page, in bytes. @default no limit */
  readonly maxBytes?: number
}

/** An entry that the store has not numbered yet. */
export type NewAuditEntry = Omit<AuditEntry, 'id'>
