/** The columns that code of all stores reads or writes, once for each table, in the order in which they are written. */
import type { Columns } from './columns.ts'

export const AUDIT_COLUMNS = {
  runId: 'key',
  actor: 'key',
  action: 'key',
  data: 'data',
} as const satisfies Columns

/** A thread without its tags, which each store indexes in its own way. */
export const THREAD_COLUMNS = {
  threadId: 'id',
  title: 'text',
  actor: 'text',
} as const satisfies Columns
