/** Lists runs of the embedded store, newest first. */
import { LISTED_COLUMNS } from '../record-fields.ts'
import { toSearched } from '../search-text.ts'
import { toListedRun } from './rows.ts'

import type { RunPage, RunQuery } from '../ports/run-store.ts'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/** Makes the function that lists. */
export function runLister(database: DatabaseSync): (query: RunQuery) => RunPage {
  return (query) => {
    const { where, values } = filterOf(query)
    const { limit, offset } = query
    const rows = database.prepare(listSql(where)).all({ ...values, limit, offset })
    return {
      runs: rows.filter(({ id }) => id !== null).map(toListedRun),
      total: Number(rows[0]?.['total']),
    }
  }
}

/**
 * One statement for the page, what its tasks have used, and the count: beyond the end it is one row. The
 * plus keeps it from going through every open review for each run, by the index of their status.
 */
function listSql(where: string): string {
  return `
    WITH page AS MATERIALIZED (
      SELECT ${LISTED_COLUMNS} FROM runs ${where} ORDER BY id DESC LIMIT $limit OFFSET $offset
    ), used AS (
      SELECT run, ${TOTALS},
        min(task_index) FILTER (WHERE tasks.status = 'RUNNING' AND page.state <> 'ended')
          AS current_index
      FROM page JOIN tasks ON run = page.id GROUP BY run
    )
    SELECT total, page.*, used.*,
      (SELECT name FROM tasks WHERE run = page.id AND task_index = current_index) AS current_name,
      (SELECT count(*) FROM reviews WHERE run = page.id AND +status = 'OPEN') AS open_reviews
    FROM (SELECT count(*) AS total FROM runs ${where})
      LEFT JOIN page ON true LEFT JOIN used ON run = page.id
    ORDER BY page.id DESC`
}

const TOKENS = ['input_tokens', 'output_tokens', 'earlier_input_tokens', 'earlier_output_tokens']

/** A task that has used no tokens has cost nothing, also where it has no price. */
const COST = `coalesce(tasks.cost_usd + earlier_cost_usd,
  CASE WHEN min(${TOKENS.join(', ')}) = 0 AND max(${TOKENS.join(', ')}) = 0 THEN 0 END)`

/** What is not known of one task is not known of all. */
const TOTALS = `
  CASE WHEN min(min(${TOKENS.join(', ')})) < 0 THEN -1 ELSE total(${TOKENS.join(' + ')}) END
    AS total_tokens,
  total(tool_call_count + earlier_tool_call_count) AS total_tool_calls,
  CASE WHEN count(*) = count(${COST}) THEN total(${COST}) END AS known_cost_usd`

interface Filter {
  readonly where: string
  readonly values: Readonly<Record<string, SQLInputValue>>
}

function filterOf({ statuses, tag, ensemble, cacheKey, text }: RunQuery): Filter {
  const conditions: string[] = []
  const values: Record<string, SQLInputValue> = {}
  if (statuses !== undefined) {
    conditions.push('status IN (SELECT value FROM json_each($statuses))')
    values['statuses'] = JSON.stringify(statuses)
  }
  if (tag !== undefined) {
    conditions.push(HAS_TAG)
    values['key'] = tag.key
    values['value'] = tag.value ?? null
    values['number'] = tag.value === undefined ? null : numberOf(tag.value)
  }
  if (ensemble !== undefined) {
    conditions.push('ensemble = $ensemble')
    values['ensemble'] = ensemble
  }
  if (cacheKey !== undefined) {
    conditions.push('cache_key = $cacheKey')
    values['cacheKey'] = cacheKey
  }
  if (text !== undefined) {
    conditions.push(HAS_TEXT)
    values['text'] = toSearched(text)
  }
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values }
}

/** A value is compared in its text form: numbers as numbers when the text is one as JSON writes it. */
const HAS_TAG = `EXISTS (
  SELECT 1 FROM json_each(tags) WHERE key = $key AND ($value IS NULL
    OR (type = 'text' AND value = $value)
    OR (type IN ('integer', 'real') AND value = $number)
    OR (type IN ('true', 'false') AND type = $value)))`

/** The number that a text is the form of; null for none. */
function numberOf(text: string): number | null {
  return String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : null
}

/** What is looked for is no pattern: `%` and `_` are themselves. */
const HAS_TEXT = `(
  substr(upper(run_id), 1, length($text)) = $text OR EXISTS (
    SELECT 1 FROM run_texts WHERE run = runs.id AND instr(text, $text) > 0))`
