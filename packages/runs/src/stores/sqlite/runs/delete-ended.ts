/** Deletes ended runs with all their data. */
import { clampCount, finiteOrNull } from '../../shared/query-numbers.ts'
import { ofRun } from '../schema/log-key.ts'

import type { Retention, StepRetention } from '../../../ports/run-store.ts'
import type { SqliteParts } from '../rows/parts.ts'

/** Counts the ended runs; 0 if the row ids show that there are no more than `$1`, so that few runs need no count. */
const COUNT_ENDED = `
  SELECT CASE WHEN (SELECT max(id) FROM runs) - (SELECT min(id) FROM runs) >= $1
    THEN (SELECT count(*) FROM runs WHERE ended_at IS NOT NULL) ELSE 0 END AS count`

/**
 * Implements `RunStore.deleteEnded`. A run is deleted for its age or because there are too many, and both reasons also
 * apply to all runs that ended before it.
 */
export function deleteEndedRuns(
  { clock, statements, transaction }: SqliteParts,
  { keep, maxAgeMs = Infinity, limit }: Retention,
): readonly string[] {
  return transaction(() => {
    const [counted] = statements.run(COUNT_ENDED, [finiteOrNull(keep)])
    const tooMany = Number(counted?.['count']) - keep
    const before = clock.now() - maxAgeMs
    const ended = statements.run(
      `SELECT id, run_id, ended_at FROM runs WHERE ended_at IS NOT NULL
       ORDER BY ended_at, id LIMIT $1`,
      [clampCount(limit)],
    )
    const gone = ended.filter((row, at) => at < tooMany || Number(row['ended_at']) < before)
    for (const row of gone) statements.run('DELETE FROM runs WHERE id = $1', [row['id']])
    return gone.map((row) => String(row['run_id']))
  })
}

/** Number of runs whose steps are deleted at a time. */
const RUNS_AT_A_TIME = 100

/**
 * Implements `RunStore.deleteSteps`. Table `trimmed_steps` holds the end and the id of the last run whose steps are
 * deleted, so that earlier runs are not looked at again.
 */
export function deleteOldSteps(
  { clock, statements, transaction }: SqliteParts,
  { maxAgeMs, limit }: StepRetention,
): boolean {
  return transaction(() => {
    const runs = statements.run(
      `SELECT id, ended_at FROM runs
       WHERE (ended_at, id) > (SELECT ended_at, run FROM trimmed_steps) AND ended_at < $1
       ORDER BY ended_at, id LIMIT ${RUNS_AT_A_TIME}`,
      [clock.now() - maxAgeMs],
    )
    let left = limit
    for (const { id, ended_at: endedAt } of runs) {
      left -= statements.count(
        `DELETE FROM steps WHERE key IN (
           SELECT key FROM steps WHERE ${ofRun('$1')} ORDER BY key LIMIT $2)`,
        [id, left],
      )
      if (left === 0) return true
      statements.run('UPDATE trimmed_steps SET ended_at = $1, run = $2', [endedAt, id])
    }
    return runs.length === RUNS_AT_A_TIME
  })
}
