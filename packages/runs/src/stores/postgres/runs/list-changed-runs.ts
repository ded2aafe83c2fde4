/**
 * Lists runs of the Postgres store by the time at which their status changed.
 *
 * Without a group, the newest runs of each ensemble and status are the first ones of a range of the index
 * `runs_by_change`, so the cost of a page does not depend on the number of stored runs. The runs of a group are few.
 */
import { MAX_COUNTED } from '../../../ports/run-store.ts'
import { clampCount } from '../../shared/query-numbers.ts'
import { CHANGED_AT } from '../schema/initial-schema.ts'
import { toColumn } from '../database/text.ts'
import { hasTag, postgresDialect } from '../schema/dialect.ts'
import { toChangedRunsPage, toStatusParts } from '../../shared/runs/list-runs.ts'
import { collectValues } from '../../shared/schema/dialect.ts'

import type { ChangedRunsPage, ChangedRunsQuery } from '../../../ports/run-store.ts'
import type { Database } from '../database/database.ts'

/** Implements `RunStore.listByChange`. */
export async function listChangedRuns(
  database: Database,
  query: ChangedRunsQuery,
): Promise<ChangedRunsPage> {
  const { sql, values } = changedRunsStatement(database.schema, query)
  const rows = await database.query(sql, values)
  return toChangedRunsPage(postgresDialect, rows, Number(rows[0]?.['total']))
}

/** Returns the statement for a page of runs by change, with the total, and its parameters. */
export function changedRunsStatement(
  schema: string,
  { ensembles, group, statuses, awaitsReview, since, after, limit }: ChangedRunsQuery,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const { values, add } = collectValues(ensembles.map(toColumn))
  const inGroup =
    group === undefined
      ? ['true']
      : [
          hasTag({ key: group.tag, value: group.value }, add),
          `run_id = ${add(toColumn(group.value))} AND NOT ${hasTag({ key: group.tag }, add)}`,
        ]
  const from = since === undefined ? '' : `AND ${CHANGED_AT} >= ${add(since)}::float8`
  const parts = toStatusParts(statuses, awaitsReview).map((part) => {
    const listed = `${add(part.statuses)}::text[]`
    const ofPart =
      group === undefined
        ? 'ensemble = one_ensemble AND status = one_status'
        : `ensemble = ANY($1) AND status = ANY(${listed})`
    const matching = inGroup.map(
      (condition) => `SELECT ${CHANGED_AT} AS changed_at, run_id COLLATE "C" AS run_id
        FROM ${schema}.runs WHERE ${ofPart} AND ${part.condition} AND ${condition} ${from}`,
    )
    const each =
      group === undefined
        ? `unnest($1::text[]) AS one_ensemble, unnest(${listed}) AS one_status`
        : '(SELECT) AS one'
    return { each, matching: matching.join(' UNION ALL ') }
  })
  const rest =
    after === undefined
      ? ''
      : `WHERE (changed_at, run_id) < (${add(after.changedAt)}::float8, ${add(toColumn(after.runId))})`
  const firsts = (columns: string, end: string): string =>
    parts
      .map(
        ({ each, matching }) => `(SELECT ${columns} FROM ${each},
          LATERAL (SELECT * FROM (${matching}) AS matching ${end}) AS first)`,
      )
      .join(' UNION ALL ')
  const order = 'ORDER BY changed_at DESC, run_id DESC'
  const top = `${order} LIMIT ${add(clampCount(limit))}`
  const most = `LIMIT ${MAX_COUNTED + 1}`
  return {
    sql: `
      WITH page AS (${firsts('changed_at, run_id', `${rest} ${top}`)} ${top}),
      counted AS (SELECT count(*) AS total FROM (${firsts('1', most)} ${most}) AS matches)
      SELECT total, page.* FROM counted LEFT JOIN page ON true ${order}`,
    values,
  }
}
