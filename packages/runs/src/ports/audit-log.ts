/**
 * Who did what. Entries are numbered by the store in the order in which they were kept.
 *
 * RUNS-A1 Entries of one call are kept in one piece, in their order.
 * RUNS-A2 A list is newest first, and a page goes on where the last one ended, whatever was added since.
 * RUNS-A3 Entries stay when the run they are about is deleted.
 */
import type { AuditEntry, AuditQuery } from '@tutti/protocol'

/** Keeps who did what. */
export interface AuditLog {
  append(entries: readonly NewAuditEntry[]): Promise<void>
  /** Returns matching entries, newest first. A page ends after `limit` entries, or the entry that reaches `maxBytes`. */
  list(query: AuditPageQuery): Promise<readonly AuditEntry[]>
  /** Deletes all but the newest `keep`. */
  trim(keep: number): Promise<void>
}

/** Which entries to read. */
export interface AuditPageQuery extends AuditQuery {
  readonly limit: number
  /** Size of the stored entries of a page, in bytes. @default no limit */
  readonly maxBytes?: number
}

/** An entry that has no number yet. */
export type NewAuditEntry = Omit<AuditEntry, 'id'>
