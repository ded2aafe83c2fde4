/** Deletes ended runs with all their data. */
import { clampCount } from '../../shared/query-numbers.ts'
import { ofRun } from '../schema/log-key.ts'

import type { Retention, StepRetention } from '../../../ports/run-store.ts'
import type { SqliteParts } from '../rows/parts.ts'

/**
 * Returns the function that deletes ended runs. A run is deleted for its age or because there are too many, and both
 * reasons also apply to all runs that ended before it.
 */
export function prepareRunDeleter({
  database,
  clock,
  transaction,
}: SqliteParts): (which: Retention) => readonly string[] {
  const count = database.prepare('SELECT count(*) AS count FROM runs WHERE ended_at IS NOT NULL')
  const oldest = database.prepare(
    `SELECT id, run_id, ended_at FROM runs WHERE ended_at IS NOT NULL
     ORDER BY ended_at, id LIMIT ?`,
  )
  const remove = database.prepare('DELETE FROM runs WHERE id = ?')
  return ({ keep, maxAgeMs = Infinity, limit }) =>
    transaction(() => {
      const tooMany = Number(count.get()?.['count']) - keep
      const before = clock.now() - maxAgeMs
      const ended = oldest.all(clampCount(limit))
      const gone = ended.filter((row, at) => at < tooMany || Number(row['ended_at']) < before)
      for (const row of gone) remove.run(Number(row['id']))
      return gone.map((row) => String(row['run_id']))
    })
}

/** Number of runs whose steps are deleted at a time. */
const RUNS_AT_A_TIME = 100

/**
 * Returns the function that deletes the steps of runs that ended before. Table `trimmed_steps` holds the end and the id
 * of the last run whose steps are deleted, so that earlier runs are not looked at again.
 */
export function prepareStepDeleter({
  database,
  clock,
  transaction,
}: SqliteParts): (which: StepRetention) => boolean {
  const oldest = database.prepare(
    `SELECT id, ended_at FROM runs
     WHERE (ended_at, id) > (SELECT ended_at, run FROM trimmed_steps) AND ended_at < ?
     ORDER BY ended_at, id LIMIT ${RUNS_AT_A_TIME}`,
  )
  const remove = database.prepare(
    `DELETE FROM steps WHERE key IN (
       SELECT key FROM steps WHERE ${ofRun('$id')} ORDER BY key LIMIT $left)`,
  )
  const advance = database.prepare('UPDATE trimmed_steps SET ended_at = ?, run = ?')
  return ({ maxAgeMs, limit }) =>
    transaction(() => {
      const runs = oldest.all(clock.now() - maxAgeMs)
      let left = limit
      for (const { id = 0, ended_at: endedAt = 0 } of runs) {
        left -= Number(remove.run({ id, left }).changes)
        if (left === 0) return true
        advance.run(endedAt, id)
      }
      return runs.length === RUNS_AT_A_TIME
    })
}
