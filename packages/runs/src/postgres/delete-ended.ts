/** Deletes ended runs with all their data. */
import { clampCount, finiteOrNull } from './numbers.ts'
import { fromColumn } from './text.ts'

import type { Retention } from '../ports/run-store.ts'
import type { Database } from './database.ts'

/** Implements `RunStore.deleteEnded`. Skips runs that another process is deleting. */
export async function deleteEnded(
  database: Database,
  { keep, maxAgeMs = Infinity, limit }: Retention,
): Promise<readonly string[]> {
  const rows = await database.query(
    `WITH beyond AS (
       SELECT ended_at, id FROM ${database.schema}.runs WHERE state = 'ended'
       ORDER BY ended_at DESC, id DESC OFFSET $1 LIMIT 1
     ), doomed AS (
       SELECT id FROM ${database.schema}.runs
       WHERE state = 'ended' AND (
         (ended_at, id) <= (SELECT ended_at, id FROM beyond)
         OR ended_at < statement_timestamp() - $2 * interval '1 millisecond')
       ORDER BY ended_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM ${database.schema}.runs USING doomed WHERE runs.id = doomed.id
     RETURNING run_id, ended_at, runs.id`,
    [clampCount(keep), finiteOrNull(maxAgeMs), clampCount(limit)],
  )
  return rows
    .map((row) => ({
      runId: fromColumn(String(row['run_id'])),
      endedAt: Number(row['ended_at']),
      id: Number(row['id']),
    }))
    .toSorted((a, b) => a.endedAt - b.endedAt || a.id - b.id)
    .map(({ runId }) => runId)
}
