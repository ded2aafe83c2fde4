/** Deletes ended runs with all their data. */
import type { Retention } from '../ports/run-store.ts'
import type { SqliteParts } from './sqlite-parts.ts'

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
      const ended = oldest.all(Math.min(limit, Number.MAX_SAFE_INTEGER))
      const gone = ended.filter((row, at) => at < tooMany || Number(row['ended_at']) < before)
      for (const row of gone) remove.run(Number(row['id']))
      return gone.map((row) => String(row['run_id']))
    })
}
