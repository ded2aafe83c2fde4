/**
 * Totals of runs in Postgres, so that limits are checked without counting runs. Triggers of the migration maintain them
 * in the transactions that change runs, so they are as exact as a count.
 *
 * A total is the sum of several rows. A change adds to the first row that no other transaction has locked, or inserts
 * one, so changes never wait for each other, and a total has at most as many rows as there were concurrent transactions.
 *
 * | kind | name | period | amount |
 * | --- | --- | --- | --- |
 * | active | '' | 0 | runs that are ready, or owned without waiting for a person |
 * | unfinished | of an actor | 0 | runs of the actor that have not ended |
 * | reviews | a kind of reviews | 0 | open reviews |
 * | cost | of an actor | two minutes, numbered from 1970 | cost of the stored runs that were created in them |
 *
 * `parked_totals` has the parked runs by ensemble, build, code and status in the same way.
 */
import { toIndex } from '../database/text.ts'

import type { Quota } from '../../../domain/quota.ts'
import type { ActorUse } from '../../../domain/refusals.ts'
import type { DatabaseSession } from '../database/database.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Length of a period in milliseconds; the same as in the migration. */
const PERIOD_MS = 120_000

/** Greatest instant in milliseconds since 1970 that a period can have. */
const LAST_INSTANT = 8.64e15

/** Builds an expression for the number of runs that wait or execute. */
export function activeRunsSql(schema: string): string {
  return `(SELECT coalesce(sum(amount), 0) FROM ${schema}.totals WHERE kind = 'active' AND name = '')`
}

/** Returns the unfinished runs of an actor and the cost of those in the quota. An unknown cost counts as 0. */
export async function readActorUse(
  { schema, query }: DatabaseSession,
  { actor, spend }: Quota,
): Promise<ActorUse> {
  const since = spend === undefined ? null : Math.min(Math.max(spend.since, 0), LAST_INSTANT)
  const [row] = await query(actorUseSql(schema), [toIndex(actor), since])
  return {
    unfinished: Number(row?.['unfinished']),
    spentUsd: Number(row?.['spent']) + Number(row?.['spent_before']),
  }
}

/**
 * Builds the statement that reads the use of actor `$1` since the instant `$2`. The costs of whole periods are totals;
 * those of the period in which the quota begins are read from its runs.
 */
export function actorUseSql(schema: string): string {
  return `
    WITH first AS MATERIALIZED (
      SELECT ceil($2::float8 / ${PERIOD_MS})::int8 AS period
    )
    SELECT
      (SELECT sum(amount) FROM ${schema}.totals
       WHERE kind = 'unfinished' AND name = $1) AS unfinished,
      (SELECT sum(amount) FROM ${schema}.totals
       WHERE kind = 'cost' AND name = $1 AND $2::float8 IS NOT NULL
         AND period >= (SELECT period FROM first)) AS spent,
      (SELECT sum(CASE state WHEN 'ended' THEN cost_usd ELSE (
         SELECT sum(coalesce(tasks.cost_usd, 0) + coalesce(earlier_cost_usd, 0))
         FROM ${schema}.tasks WHERE run = runs.id) END)
       FROM ${schema}.runs WHERE actor_index = $1 AND created_at >= $2::float8
         AND created_at < (SELECT period FROM first) * ${PERIOD_MS}::float8) AS spent_before`
}

/** An actor and a period. */
export interface CostPeriod {
  readonly actorIndex: string
  readonly period: string
}

/** Deletes the costs of periods whose runs have all been deleted. */
export async function deleteEmptyCosts(
  { schema, query }: DatabaseSession,
  periods: readonly CostPeriod[],
): Promise<void> {
  if (periods.length === 0) return
  await query(
    `WITH held AS MATERIALIZED (
       SELECT id, name, period, amount FROM ${schema}.totals
       WHERE kind = 'cost' AND (name, period) IN (SELECT * FROM unnest($1::text[], $2::int8[]))
       FOR UPDATE SKIP LOCKED
     ), empty AS (
       SELECT name, period FROM held GROUP BY name, period HAVING sum(amount) = 0
     )
     DELETE FROM ${schema}.totals WHERE id IN (SELECT id FROM held JOIN empty USING (name, period))`,
    [periods.map(({ actorIndex }) => actorIndex), periods.map(({ period }) => period)],
  )
}

/** Deletes totals that count no parked run, such as those of earlier builds. */
export async function deleteEmptyParked({
  schema,
  query,
}: Pick<DatabaseSession, 'schema' | 'query'>): Promise<void> {
  await query(
    `WITH held AS MATERIALIZED (
       SELECT id, ensemble, build, code, status, amount FROM ${schema}.parked_totals
       FOR UPDATE SKIP LOCKED
     ), empty AS (
       SELECT ensemble, build, code, status FROM held GROUP BY 1, 2, 3, 4 HAVING sum(amount) = 0
     )
     DELETE FROM ${schema}.parked_totals
     WHERE id IN (SELECT id FROM held JOIN empty USING (ensemble, build, code, status))`,
  )
}

/** Builds the columns of a deleted run that {@link toCostPeriods} reads. */
export const COST_PERIOD_COLUMNS = `actor_index, floor(created_at / ${PERIOD_MS})::int8 AS period`

/** Returns the periods of the costs of deleted runs. */
export function toCostPeriods(rows: readonly StoredRow[]): readonly CostPeriod[] {
  return rows.flatMap(({ actor_index: actorIndex, period }) =>
    typeof actorIndex === 'string' ? [{ actorIndex, period: String(period) }] : [],
  )
}
