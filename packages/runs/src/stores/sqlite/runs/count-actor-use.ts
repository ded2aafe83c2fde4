/** Counts the runs and the cost of an actor in the embedded store. */
import type { Quota } from '../../../domain/quota.ts'
import type { ActorUse } from '../../../domain/refusals.ts'
import type { DatabaseSync } from 'node:sqlite'

/** Returns the function that counts; it reads only what the quota limits. An unknown cost counts as 0. */
export function prepareActorCounter(database: DatabaseSync): (quota: Quota) => ActorUse {
  const unfinished = database.prepare(
    `SELECT count(*) AS count FROM runs WHERE actor = ? AND state <> 'ended'`,
  )
  const spent = database.prepare(
    `SELECT (SELECT total(cost_usd) FROM runs
         WHERE actor = $actor AND created_at >= $since AND state = 'ended')
       + (SELECT total(coalesce(tasks.cost_usd, 0) + coalesce(earlier_cost_usd, 0))
         FROM runs JOIN tasks ON run = runs.id
         WHERE actor = $actor AND created_at >= $since AND state <> 'ended') AS spent`,
  )
  return ({ actor, maxUnfinishedRuns, spend }) => {
    const key = JSON.stringify(actor)
    return {
      unfinished: maxUnfinishedRuns === undefined ? 0 : Number(unfinished.get(key)?.['count']),
      spentUsd:
        spend === undefined ? 0 : Number(spent.get({ actor: key, since: spend.since })?.['spent']),
    }
  }
}
