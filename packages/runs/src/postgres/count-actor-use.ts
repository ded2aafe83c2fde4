/** Counts the runs and the cost of an actor in Postgres. */
import { toIndex } from './text.ts'

import type { Quota } from '../ports/run-store.ts'
import type { ActorUse } from '../refusals.ts'
import type { DatabaseSession } from './database.ts'

/** Counts only what the quota limits. An unknown cost counts as 0. */
export async function countActorUse(
  { schema, query }: DatabaseSession,
  { actor, maxUnfinishedRuns, spend }: Quota,
): Promise<ActorUse> {
  const [counted] = await query(
    `SELECT
       (SELECT count(*) FROM ${schema}.runs 
        WHERE actor_index = $1 AND state <> 'ended' AND $2::bool) AS unfinished,
       (SELECT sum(cost_usd) FROM ${schema}.runs
        WHERE actor_index = $1 AND created_at >= $3::float8 AND state = 'ended') AS spent,
       (SELECT sum(coalesce(tasks.cost_usd, 0) + coalesce(earlier_cost_usd, 0))
        FROM ${schema}.runs JOIN ${schema}.tasks ON run = runs.id
        WHERE actor_index = $1 AND created_at >= $3::float8 AND state <> 'ended') AS spending`,
    [toIndex(actor), maxUnfinishedRuns !== undefined, spend?.since ?? null],
  )
  return {
    unfinished: Number(counted?.['unfinished']),
    spentUsd: Number(counted?.['spent']) + Number(counted?.['spending']),
  }
}
