/** Deletes runs that ended long ago; what belongs to them goes with them. */
import type { Retention } from '../ports/run-store.ts'
import type { SqliteParts } from './sqlite-parts.ts'

/**
 * Makes the function that deletes. Whichever of the two reasons a run is deleted for, those that ended
 * before it are too: so it walks from the oldest on and stops at the first that stays.
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
