/** Pure: the parts of lists of runs that all stores share. */
import { RUN_STATUSES } from '@tutti/protocol/basics'

import { MAX_COUNTED } from '../../../ports/run-store.ts'
import { clampTime } from '../query-numbers.ts'

import type { RunStatus } from '@tutti/protocol'
import type { ChangedRunsPage, RunListPage } from '../../../ports/run-store.ts'
import type { StoredRow } from '../column-reader.ts'
import type { RecordReader } from '../read-records.ts'
import type { StoreDialect } from '../schema/dialect.ts'

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

/**
 * Reads a page of runs by change; `count` is the number of matching runs, at most one more than are counted. A page
 * without runs may be one row without an id.
 */
export function toChangedRunsPage(
  { texts }: StoreDialect,
  rows: readonly StoredRow[],
  count: number,
): ChangedRunsPage {
  return {
    runs: rows
      .filter((row) => row['run_id'] !== null)
      .map((row) => ({
        runId: String(texts.id(String(row['run_id']))),
        changedAt: clampTime(Number(row['changed_at'])),
      })),
    total: Math.min(count, MAX_COUNTED),
  }
}

const TOKENS = ['input_tokens', 'output_tokens', 'earlier_input_tokens', 'earlier_output_tokens']

/** The cost of a task; 0 for a task without tokens, even if its price is unknown. */
const COST = `coalesce(tasks.cost_usd + earlier_cost_usd,
  CASE WHEN least(${TOKENS.join(', ')}) = 0 AND greatest(${TOKENS.join(', ')}) = 0 THEN 0 END)`

/**
 * Totals over all tasks, and the number of skipped ones; a total is unknown if the value of one task is. Sums are of floats,
 * which cannot overflow.
 */
export const TASK_TOTALS = `
  CASE WHEN min(least(${TOKENS.join(', ')})) < 0 THEN -1 ELSE sum(1.0 * (${TOKENS.join(' + ')})) END
    AS total_tokens,
  sum(1.0 * (tool_call_count + earlier_tool_call_count)) AS total_tool_calls,
  count(CASE WHEN tasks.status = 'SKIPPED' THEN 1 END) AS skipped_tasks,
  CASE WHEN count(*) = count(${COST}) THEN sum(1.0 * ${COST}) END AS known_cost_usd`

/** Statuses, and the condition for runs of these statuses. */
export interface StatusPart {
  readonly statuses: readonly RunStatus[]
  readonly condition: string
}

/**
 * Divides statuses, by default all, by whether their runs need a condition. A run that waits for a review of its
 * caller may be RUNNING, if it does other work meanwhile, or WAITING_FOR_BUILD.
 */
export function toStatusParts(
  statuses: readonly RunStatus[] | undefined,
  awaitsReview: boolean | undefined,
): readonly StatusPart[] {
  const wanted = [...new Set(statuses ?? RUN_STATUSES)]
  if (awaitsReview === undefined) return [{ statuses: wanted, condition: 'true' }]
  return [
    {
      statuses: wanted.filter(
        (status) => !MAY_AWAIT.has(status) && (status === 'WAITING_REVIEW') === awaitsReview,
      ),
      condition: 'true',
    },
    {
      statuses: wanted.filter((status) => MAY_AWAIT.has(status)),
      condition: `review_since IS ${awaitsReview ? 'NOT NULL' : 'NULL'}`,
    },
  ]
}

/** Statuses of runs that may have an open review. */
const MAY_AWAIT: ReadonlySet<RunStatus> = new Set<RunStatus>(['RUNNING', 'WAITING_FOR_BUILD'])
