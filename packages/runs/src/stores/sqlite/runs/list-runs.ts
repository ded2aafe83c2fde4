/** Lists runs of the embedded store, newest first. */
import { clampCount } from '../../shared/query-numbers.ts'
import { LISTED_COLUMNS } from '../../shared/record-fields.ts'
import { MAX_COUNTED } from '../../../ports/run-store.ts'
import { normalizeForSearch } from '../../shared/search-text.ts'
import {
  TASK_TOTALS,
  toChangedRunsPage,
  toRunConditions,
  toRunListPage,
} from '../../shared/runs/list-runs.ts'
import { collectValues } from '../../shared/schema/dialect.ts'
import { sqliteDialect } from '../schema/dialect.ts'
import { sqliteRecords } from '../rows/rows.ts'

import type {
  ChangedRunsPage,
  ChangedRunsQuery,
  RunListPage,
  RunQuery,
} from '../../../ports/run-store.ts'
import type { SqliteStatements } from '../database/statements.ts'

/** Implements `RunStore.list`. */
export function listStoredRuns(statements: SqliteStatements, query: RunQuery): RunListPage {
  const { limit, offset = 0, before = Infinity, text } = query
  const { values, add } = collectValues()
  const conditions = [...toRunConditions(sqliteDialect, query, add).all]
  if (text !== undefined) conditions.push(hasText(add(normalizeForSearch(text))))
  const where = conditions.length === 0 ? 'true' : conditions.join(' AND ')
  const [counted] = statements.run(countSql(where), values)
  const count = Number(counted?.['total'])
  // Without a run, the statement of the page would take 20 times as long as the count.
  if (count === 0) return toRunListPage(sqliteRecords, [], 0)
  const bounds = [before, limit, offset].map((bound) => add(clampCount(bound)))
  return toRunListPage(sqliteRecords, statements.run(listSql(where, bounds), values), count)
}

/** Implements `RunStore.listByChange`. */
export function listRunsByChange(
  statements: SqliteStatements,
  { ensembles, group, statuses, awaitsReview, since, after, limit }: ChangedRunsQuery,
): ChangedRunsPage {
  const { values, add } = collectValues(ensembles)
  const conditions = ['ensemble = ANY($1::text[])']
  if (group !== undefined) {
    const { tag: key, value } = group
    const hasTag = sqliteDialect.hasTag({ key, value }, add)
    const isRoot = `run_id = ${add(value)} AND NOT ${sqliteDialect.hasTag({ key }, add)}`
    conditions.push(`(${hasTag} OR (${isRoot}))`)
  }
  if (statuses !== undefined) conditions.push(`status = ANY(${add(statuses)}::text[])`)
  if (awaitsReview !== undefined) {
    conditions.push(`${add(awaitsReview)} =
      (status = 'WAITING_REVIEW' OR (status = 'RUNNING' AND opened_at IS NOT NULL))`)
  }
  const rest =
    after === undefined
      ? 'true'
      : `(changed_at, run_id) < (${add(after.changedAt)}, ${add(after.runId)})`
  const sql = `
    WITH open AS MATERIALIZED (
      SELECT run, min(opened_at) AS opened_at FROM reviews WHERE status = 'OPEN' GROUP BY run
    ), found AS MATERIALIZED (
      SELECT run_id,
        max(coalesce(completed_at, started_at, created_at), coalesce(opened_at, 0)) AS changed_at
      FROM runs LEFT JOIN open ON run = id WHERE ${conditions.join(' AND ')}
    ), matching AS (
      SELECT * FROM found WHERE ${since === undefined ? 'true' : `changed_at >= ${add(since)}`}
    ), page AS (
      SELECT * FROM matching WHERE ${rest}
      ORDER BY changed_at DESC, run_id DESC LIMIT ${add(clampCount(limit))}
    )
    SELECT total, page.* FROM (SELECT count(*) AS total FROM matching) LEFT JOIN page ON true
    ORDER BY changed_at DESC, run_id DESC`
  return toChangedRunsPage(sqliteDialect, statements.run(sql, values))
}

function countSql(where: string): string {
  return `SELECT count(*) AS total FROM (SELECT 1 FROM runs WHERE ${where} LIMIT ${MAX_COUNTED + 1})`
}

/**
 * Builds one statement for the page and the usage of its tasks. The plus in `+status` disables the index on the status of
 * reviews, which would scan all open reviews for each run. The cross join fixes the order of its tables; otherwise all
 * tasks of the store would be scanned.
 */
function listSql(where: string, [before, limit, offset]: readonly string[]): string {
  return `
    WITH page AS MATERIALIZED (
      SELECT ${LISTED_COLUMNS} FROM runs WHERE id < ${before} AND ${where}
      ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}
    ), used AS (
      SELECT run, ${TASK_TOTALS},
        min(task_index) FILTER (WHERE tasks.status = 'RUNNING' AND page.state <> 'ended')
          AS current_index
      FROM page CROSS JOIN tasks ON run = page.id GROUP BY run
    )
    SELECT page.*, used.*,
      (SELECT name FROM tasks WHERE run = page.id AND task_index = current_index) AS current_name,
      (SELECT count(*) FROM reviews WHERE run = page.id AND +status = 'OPEN') AS open_reviews
    FROM page LEFT JOIN used ON run = page.id
    ORDER BY page.id DESC`
}

/** The search text is not a pattern: `%` and `_` have no special meaning. */
function hasText(text: string): string {
  return `(substr(upper(run_id), 1, length(${text})) = ${text} OR EXISTS (
    SELECT 1 FROM run_texts WHERE run = runs.id AND instr(text, ${text}) > 0))`
}
