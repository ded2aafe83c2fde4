/** Lists runs of the embedded store, newest first. */
import { clampCount, clampTime } from '../../shared/query-numbers.ts'
import { LISTED_COLUMNS } from '../../shared/record-fields.ts'
import { MAX_COUNTED } from '../../../ports/run-store.ts'
import { normalizeForSearch } from '../../shared/search-text.ts'
import { prepareRows } from '../database/prepare-rows.ts'
import { sqliteRecords } from '../rows/rows.ts'

import type {
  ChangedRunsPage,
  ChangedRunsQuery,
  RunListPage,
  RunQuery,
} from '../../../ports/run-store.ts'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** Returns the function that lists runs. */
export function prepareRunLister(database: DatabaseSync): (query: RunQuery) => RunListPage {
  /** Condition → its statements. Conditions differ only by the filters that a query has. */
  const prepared = new Map<
    string,
    { readonly count: StatementSync; readonly page: StatementSync }
  >()
  return (query) => {
    const { where, values } = toFilter(query)
    const { limit, offset = 0, before = Infinity } = query
    const { count, page } = prepared.get(where) ?? {
      count: database.prepare(countSql(where)),
      page: prepareRows(database, listSql(where)),
    }
    prepared.set(where, { count, page })
    const found = Number(count.get(values)?.['total'])
    // Without a run, the statement of the page would take 20 times as long as the count.
    const rows =
      found === 0
        ? []
        : page.all({
            ...values,
            before: clampCount(before),
            limit: clampCount(limit),
            offset: clampCount(offset),
          })
    return {
      runs: rows.map((row) => sqliteRecords.listedRun(row)),
      total: Math.min(found, MAX_COUNTED),
      isCapped: found > MAX_COUNTED,
    }
  }
}

/** Returns the function that lists runs by change. */
export function prepareChangedRunLister(
  database: DatabaseSync,
): (query: ChangedRunsQuery) => ChangedRunsPage {
  const list = prepareRows(database, CHANGED_SQL)
  return ({ ensembles, group, statuses, awaitsReview, since, after, limit }) => {
    const rows = list.all({
      ensembles: JSON.stringify(ensembles),
      key: group?.tag ?? null,
      value: group?.value ?? null,
      number: group === undefined ? null : parseNumber(group.value),
      statuses: statuses === undefined ? null : JSON.stringify(statuses),
      awaitsReview: awaitsReview === undefined ? null : Number(awaitsReview),
      since: since ?? null,
      afterTime: after?.changedAt ?? null,
      afterId: after?.runId ?? null,
      limit: clampCount(limit),
    })
    return {
      runs: rows
        .filter((row) => row['run_id'] !== null)
        .map((row) => ({
          runId: String(row['run_id']),
          changedAt: clampTime(Number(row['changed_at'])),
        })),
      total: Number(rows[0]?.['total']),
    }
  }
}

function countSql(where: string): string {
  return `SELECT count(*) AS total FROM (SELECT 1 FROM runs WHERE ${where} LIMIT ${MAX_COUNTED + 1})`
}

/**
 * Builds one statement for the page and the usage of its tasks. The plus in `+status` disables the index on the status of
 * reviews, which would scan all open reviews for each run. The cross join fixes the order of its tables; otherwise all
 * tasks of the store would be scanned.
 */
function listSql(where: string): string {
  return `
    WITH page AS MATERIALIZED (
      SELECT ${LISTED_COLUMNS} FROM runs WHERE id < $before AND ${where}
      ORDER BY id DESC LIMIT $limit OFFSET $offset
    ), used AS (
      SELECT run, ${TOTALS},
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

const TOKENS = ['input_tokens', 'output_tokens', 'earlier_input_tokens', 'earlier_output_tokens']

/** The cost of a task; 0 for a task without tokens, even if its price is unknown. */
const COST = `coalesce(tasks.cost_usd + earlier_cost_usd,
  CASE WHEN min(${TOKENS.join(', ')}) = 0 AND max(${TOKENS.join(', ')}) = 0 THEN 0 END)`

/** Totals over all tasks; a total is unknown if the value of one task is. */
const TOTALS = `
  CASE WHEN min(min(${TOKENS.join(', ')})) < 0 THEN -1 ELSE total(${TOKENS.join(' + ')}) END
    AS total_tokens,
  total(tool_call_count + earlier_tool_call_count) AS total_tool_calls,
  CASE WHEN count(*) = count(${COST}) THEN total(${COST}) END AS known_cost_usd`

interface Filter {
  readonly where: string
  readonly values: Readonly<Record<string, SQLInputValue>>
}

function toFilter({ statuses, tag, ensemble, threadId, cacheKey, text }: RunQuery): Filter {
  const conditions: string[] = []
  const values: Record<string, SQLInputValue> = {}
  if (statuses !== undefined) {
    conditions.push('status IN (SELECT value FROM json_each($statuses))')
    values['statuses'] = JSON.stringify(statuses)
  }
  if (tag !== undefined) {
    conditions.push(HAS_TAG)
    Object.assign(values, toTagValues(tag))
  }
  if (ensemble !== undefined) {
    conditions.push('ensemble = $ensemble')
    values['ensemble'] = ensemble
  }
  if (threadId !== undefined) {
    conditions.push('id IN (SELECT run FROM thread_runs WHERE thread_id = $threadId)')
    values['threadId'] = threadId
  }
  if (cacheKey !== undefined) {
    conditions.push('cache_key = $cacheKey')
    values['cacheKey'] = cacheKey
  }
  if (text !== undefined) {
    conditions.push(HAS_TEXT)
    values['text'] = normalizeForSearch(text)
  }
  return { where: conditions.length === 0 ? 'true' : conditions.join(' AND '), values }
}

/** Compares a value in its text form. Numbers are compared as numbers if the text is a number as JSON writes it. */
export const HAS_TAG = `EXISTS (
  SELECT 1 FROM json_each(iif(json_valid(tags), tags, '{}')) WHERE key = $key AND ($value IS NULL
    OR (type = 'text' AND value = $value)
    OR (type IN ('integer', 'real') AND value = $number)
    OR (type IN ('true', 'false') AND type = $value)))`

/** Returns the values of {@link HAS_TAG}. */
export function toTagValues(tag: RunQuery['tag']): Readonly<Record<string, SQLInputValue>> {
  const value = tag?.value
  return {
    key: tag?.key ?? null,
    value: value ?? null,
    number: value === undefined ? null : parseNumber(value),
  }
}

/** Parses a number as JSON writes it; returns null for any other text. */
function parseNumber(text: string): number | null {
  return String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : null
}

/** The search text is not a pattern: `%` and `_` have no special meaning. */
const HAS_TEXT = `(
  substr(upper(run_id), 1, length($text)) = $text OR EXISTS (
    SELECT 1 FROM run_texts WHERE run = runs.id AND instr(text, $text) > 0))`

/** A page of runs by change, with the total. Open reviews are few, and read once. */
const CHANGED_SQL = `
  WITH open AS MATERIALIZED (
    SELECT run, min(opened_at) AS opened_at FROM reviews WHERE status = 'OPEN' GROUP BY run
  ), found AS MATERIALIZED (
    SELECT run_id,
      max(coalesce(completed_at, started_at, created_at), coalesce(opened_at, 0)) AS changed_at
    FROM runs LEFT JOIN open ON run = id
    WHERE ensemble IN (SELECT value FROM json_each($ensembles))
      AND ($key IS NULL OR ${HAS_TAG} OR (run_id = $value
        AND NOT EXISTS (
          SELECT 1 FROM json_each(iif(json_valid(tags), tags, '{}')) WHERE key = $key)))
      AND ($statuses IS NULL OR status IN (SELECT value FROM json_each($statuses)))
      AND ($awaitsReview IS NULL OR $awaitsReview =
        (status = 'WAITING_REVIEW' OR (status = 'RUNNING' AND opened_at IS NOT NULL)))
  ), matching AS (
    SELECT * FROM found WHERE $since IS NULL OR changed_at >= $since
  ), page AS (
    SELECT * FROM matching
    WHERE $afterTime IS NULL OR (changed_at, run_id) < ($afterTime, $afterId)
    ORDER BY changed_at DESC, run_id DESC LIMIT $limit
  )
  SELECT total, page.* FROM (SELECT min(count(*), ${MAX_COUNTED}) AS total FROM matching)
    LEFT JOIN page ON true
  ORDER BY changed_at DESC, run_id DESC`
