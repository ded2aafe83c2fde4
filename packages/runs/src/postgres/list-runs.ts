/** Lists runs of the Postgres store, newest first. */
import { LISTED_COLUMNS } from '../record-fields.ts'
import { normalizeForSearch } from '../search-text.ts'
import { toListedRun } from './rows.ts'
import { fromColumn, toTagIndex, toColumn } from './text.ts'

import type {
  ChangedRunsPage,
  ChangedRunsQuery,
  RunListPage,
  RunQuery,
} from '../ports/run-store.ts'
import type { Database } from './database.ts'

/** Implements `RunStore.list`. */
export async function queryRuns(database: Database, query: RunQuery): Promise<RunListPage> {
  const { statuses, tag, ensemble, cacheKey, text, limit, offset } = query
  const rows = await database.query(listSql(database.schema), [
    statuses ?? null,
    tag === undefined ? null : [toTagIndex(tag.key, tag.value)],
    ensemble === undefined ? null : toColumn(ensemble),
    text === undefined ? null : normalizeForSearch(text),
    limit,
    offset,
    cacheKey ?? null,
  ])
  return {
    runs: rows.filter(({ id }) => id !== null).map(toListedRun),
    total: Number(rows[0]?.['total']),
  }
}

/** Implements `RunStore.listByChange`. */
export async function listChangedRuns(
  database: Database,
  { ensembles, group, statuses, awaitsReview, since, after, limit }: ChangedRunsQuery,
): Promise<ChangedRunsPage> {
  const rows = await database.query(changedSql(database.schema), [
    ensembles.map(toColumn),
    group === undefined ? null : [toTagIndex(group.tag, group.value)],
    group === undefined ? null : [toTagIndex(group.tag)],
    group === undefined ? null : toColumn(group.value),
    statuses ?? null,
    awaitsReview ?? null,
    since ?? null,
    after?.changedAt ?? null,
    after === undefined ? null : toColumn(after.runId),
    limit,
  ])
  return {
    runs: rows
      .filter((row) => row['run_id'] !== null)
      .map((row) => ({
        runId: fromColumn(String(row['run_id'])),
        changedAt: Number(row['changed_at']),
      })),
    total: Number(rows[0]?.['total']),
  }
}

/** Builds the statement for a page of runs by change, with the total. Open reviews are few, and read once. */
function changedSql(schema: string): string {
  return `
    WITH open AS MATERIALIZED (
      SELECT run, min(opened_at) AS opened_at FROM ${schema}.reviews WHERE status = 'OPEN'
      GROUP BY run
    ), found AS MATERIALIZED (
      SELECT run_id COLLATE "C" AS run_id,
        greatest(coalesce(completed_at, started_at, created_at), opened_at) AS changed_at
      FROM ${schema}.runs LEFT JOIN open ON run = id
      WHERE ensemble = ANY($1)
        AND ($2::text[] IS NULL OR tag_index @> $2 OR (run_id = $4 AND NOT tag_index @> $3))
        AND ($5::text[] IS NULL OR status = ANY($5))
        AND ($6::boolean IS NULL OR $6 =
          (status = 'WAITING_REVIEW' OR (status = 'RUNNING' AND opened_at IS NOT NULL)))
    ), matching AS (
      SELECT * FROM found WHERE $7::double precision IS NULL OR changed_at >= $7
    ), page AS (
      SELECT * FROM matching
      WHERE $8::double precision IS NULL OR (changed_at, run_id) < ($8, $9)
      ORDER BY changed_at DESC, run_id DESC LIMIT $10
    )
    SELECT total, page.* FROM (SELECT count(*) AS total FROM matching) AS counted
      LEFT JOIN page ON true
    ORDER BY changed_at DESC, run_id DESC`
}

/** Builds one statement for the page, the usage of its tasks, and the count. A page beyond the end has one row. */
function listSql(schema: string): string {
  const where = whereSql(schema)
  return `
    SELECT total, page.*, used.*, at_work.*, asked.*
    FROM (SELECT count(*) AS total FROM ${schema}.runs ${where}) AS counted
    LEFT JOIN (
      SELECT ${LISTED_COLUMNS} FROM ${schema}.runs ${where} ORDER BY id DESC LIMIT $5 OFFSET $6
    ) AS page ON true
    LEFT JOIN LATERAL (
      SELECT ${TOTALS} FROM ${schema}.tasks WHERE run = page.id
    ) AS used ON true
    LEFT JOIN LATERAL (
      SELECT task_index AS current_index, name AS current_name FROM ${schema}.tasks
      WHERE run = page.id AND status = 'RUNNING' AND page.state <> 'ended'
      ORDER BY task_index LIMIT 1
    ) AS at_work ON true
    LEFT JOIN LATERAL (
      SELECT count(*) AS open_reviews FROM ${schema}.reviews
      WHERE run = page.id AND status = 'OPEN'
    ) AS asked ON true
    ORDER BY page.id DESC`
}

/** Builds the filter. The search text is not a pattern: `%` and `_` have no special meaning. */
function whereSql(schema: string): string {
  return `
    WHERE ($1::text[] IS NULL OR status = ANY($1))
      AND ($2::text[] IS NULL OR tag_index @> $2)
      AND ($3::text IS NULL OR ensemble = $3)
      AND ($7::text IS NULL OR cache_key = $7)
      AND ($4::text IS NULL OR starts_with(upper(run_id COLLATE "C"), $4) OR EXISTS (
        SELECT 1 FROM ${schema}.run_texts WHERE run = runs.id AND strpos(text, $4) > 0))`
}

const TOKENS = ['input_tokens', 'output_tokens', 'earlier_input_tokens', 'earlier_output_tokens']

/** The cost of a task; 0 for a task without tokens, even if its price is unknown. */
const COST = `coalesce(cost_usd + earlier_cost_usd,
  CASE WHEN least(${TOKENS.join(', ')}) = 0 AND greatest(${TOKENS.join(', ')}) = 0 THEN 0 END)`

/** Totals over all tasks; a total is unknown if the value of one task is. */
const TOTALS = `
  CASE WHEN min(least(${TOKENS.join(', ')})) < 0 THEN -1 ELSE sum(${TOKENS.join(' + ')}) END
    AS total_tokens,
  sum(tool_call_count + earlier_tool_call_count) AS total_tool_calls,
  CASE WHEN count(*) = count(${COST}) THEN sum(${COST}) END AS known_cost_usd`
