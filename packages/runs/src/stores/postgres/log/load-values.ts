/** Loads the values that events and steps refer to. */
import { listReferredEvents, StoredReader } from '../../../log/read-stored.ts'
import { toColumn } from '../database/text.ts'

import type { DatabaseSession } from '../database/database.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** A run, and the session that reads it. */
export interface ValueSource {
  readonly runId: string
  readonly session: Pick<DatabaseSession, 'schema' | 'query'>
}

/**
 * Returns a reader of these rows. Sends no statement when they refer to no other event. References have a depth of at
 * most three: a list of messages, a message, a text.
 */
export async function loadValues(
  { runId, session }: ValueSource,
  rows: readonly StoredRow[],
): Promise<StoredReader> {
  const known = new Map<number, string>()
  for (let loaded = rows; loaded.length > 0;) {
    for (const { seq, data } of loaded) {
      if (seq !== undefined) known.set(Number(seq), String(data))
    }
    const referred = loaded.flatMap(({ data }) => listReferredEvents(String(data)))
    const missing = [...new Set(referred)].filter((seq) => !known.has(seq))
    if (missing.length === 0) break
    loaded = await session.query(
      `SELECT seq, data FROM ${session.schema}.events
       WHERE run = (SELECT id FROM ${session.schema}.runs WHERE run_id = $1) AND seq = ANY($2)`,
      [toColumn(runId), missing],
    )
  }
  return new StoredReader((seq) => known.get(seq) ?? '')
}
