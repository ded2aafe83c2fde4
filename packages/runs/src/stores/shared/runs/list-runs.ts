/** Pure: the parts of lists of runs that all stores share. */
import { MAX_COUNTED } from '../../../ports/run-store.ts'
import { clampTime } from '../query-numbers.ts'

import type { ChangedRunsPage, RunListPage, RunQuery } from '../../../ports/run-store.ts'
import type { StoredRow } from '../column-reader.ts'
import type { RecordReader } from '../read-records.ts'
import type { AddValue, StoreDialect } from '../schema/dialect.ts'

/** Conditions of a query on `runs`, apart from its text. */
export interface RunConditions {
  /** The parameters of the columns that have an index together with the id; `statuses` is an array. */
  readonly ensemble?: string
  readonly statuses?: string
  /** The conditions on other columns. */
  readonly others: readonly string[]
  /** All conditions. */
  readonly all: readonly string[]
}

/** Returns the conditions of a query. */
export function toRunConditions(
  dialect: StoreDialect,
  { statuses, tag, ensemble, threadId, cacheKey }: RunQuery,
  add: AddValue,
): RunConditions {
  const { id: toId, key: toKey } = dialect.texts.encode
  const others: string[] = []
  if (tag !== undefined) others.push(dialect.hasTag(tag, add))
  if (threadId !== undefined) {
    const thread = add(toId(threadId))
    others.push(`id IN (SELECT run FROM $schema.thread_runs WHERE thread_id = ${thread})`)
  }
  if (cacheKey !== undefined) others.push(`cache_key = ${add(toKey(cacheKey))}`)
  const all = [...others]
  const indexed: { ensemble?: string; statuses?: string } = {}
  if (ensemble !== undefined) {
    indexed.ensemble = add(toId(ensemble))
    all.push(`ensemble = ${indexed.ensemble}`)
  }
  if (statuses !== undefined) {
    indexed.statuses = `${add([...new Set(statuses)])}::text[]`
    all.push(`status = ANY(${indexed.statuses})`)
  }
  return { ...indexed, others, all }
}

/** Returns a page of a list; `count` is the number of matching runs, at most one more than are counted. */
export function toRunListPage(
  reader: RecordReader,
  rows: readonly StoredRow[],
  count: number,
): RunListPage {
  return {
    runs: rows.map((row) => reader.listedRun(row)),
    total: Math.min(count, MAX_COUNTED),
    isCapped: count > MAX_COUNTED,
  }
}

/** Reads a page of runs by change. A page without runs is one row without an id. */
export function toChangedRunsPage(
  { texts }: StoreDialect,
  rows: readonly StoredRow[],
): ChangedRunsPage {
  return {
    runs: rows
      .filter((row) => row['run_id'] !== null)
      .map((row) => ({
        runId: String(texts.id(String(row['run_id']))),
        changedAt: clampTime(Number(row['changed_at'])),
      })),
    total: Math.min(Number(rows[0]?.['total']), MAX_COUNTED),
  }
}

const TOKENS = ['input_tokens', 'output_tokens', 'earlier_input_tokens', 'earlier_output_tokens']

/** The cost of a task; 0 for a task without tokens, even if its price is unknown. */
const COST = `coalesce(tasks.cost_usd + earlier_cost_usd,
  CASE WHEN least(${TOKENS.join(', ')}) = 0 AND greatest(${TOKENS.join(', ')}) = 0 THEN 0 END)`

/** Totals over all tasks; a total is unknown if the value of one task is. Sums are of floats, which cannot overflow. */
export const TASK_TOTALS = `
  CASE WHEN min(least(${TOKENS.join(', ')})) < 0 THEN -1 ELSE sum(1.0 * (${TOKENS.join(' + ')})) END
    AS total_tokens,
  sum(1.0 * (tool_call_count + earlier_tool_call_count)) AS total_tool_calls,
  CASE WHEN count(*) = count(${COST}) THEN sum(1.0 * ${COST}) END AS known_cost_usd`
