/** Counts the runs and the cost of an actor in the embedded store. */
import type { Quota } from '../../../domain/quota.ts'
import type { ActorUse } from '../../../domain/refusals.ts'
import type { SqliteStatements } from '../database/statements.ts'

/** Reads only what the quota limits. An unknown cost counts as 0. */
export function countActorUse(
  statements: SqliteStatements,
  { actor, maxUnfinishedRuns, spend }: Quota,
): ActorUse {
  const key = JSON.stringify(actor)
  const read = (sql: string, ...more: readonly number[]): number =>
    Number(statements.run(sql, [key, ...more])[0]?.['amount'])
  return {
    unfinished:
      maxUnfinishedRuns === undefined
        ? 0
        : read(`SELECT sum(amount) AS amount FROM totals WHERE kind = 'unfinished' AND name = $1`),
    spentUsd:
      spend === undefined
        ? 0
        : read(
            `SELECT (SELECT total(cost_usd) FROM runs
                 WHERE actor = $1 AND created_at >= $2 AND state = 'ended')
               + (SELECT total(coalesce(tasks.cost_usd, 0) + coalesce(earlier_cost_usd, 0))
                 FROM runs JOIN tasks ON run = runs.id
                 WHERE actor = $1 AND created_at >= $2 AND state <> 'ended') AS amount`,
            spend.since,
          ),
  }
}
