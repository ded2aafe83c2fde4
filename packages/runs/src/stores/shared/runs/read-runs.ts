/** Reads runs, their tasks, and the number of reviews. */
import { REVIEW_KINDS } from '@tutti/protocol/basics'

import { clampCount } from '../query-numbers.ts'
import { READ_TASKS } from '../record-fields.ts'
import {
  collectValues,
  type AddValue,
  type StoreDialect,
  type StatementRunner,
} from '../schema/dialect.ts'

import type { ReviewQuery, RunStore } from '../../../ports/run-store.ts'
import type { RecordReader } from '../read-records.ts'

/** The parts of a store that {@link runReads} needs. */
export interface RunReadParts {
  readonly dialect: StoreDialect
  readonly reader: RecordReader
  readonly requests: StatementRunner
  /** The query of runs with all columns of their records, without a condition. */
  readonly selectRuns: string
}

/** Returns the methods of a run store that only read. */
export function runReads({
  dialect,
  reader,
  requests,
  selectRuns,
}: RunReadParts): Pick<RunStore, 'get' | 'tasks' | 'countReviews'> {
  const { id: toId } = dialect.texts.encode
  return {
    async get(runId) {
      const [row] = await requests.query(`${selectRuns} WHERE run_id = $1`, [toId(runId)])
      return row === undefined ? undefined : reader.run(row)
    },
    async tasks(runId) {
      const rows = await requests.query(
        `SELECT ${READ_TASKS} FROM $schema.tasks JOIN $schema.runs ON runs.id = run
         WHERE run_id = $1 ORDER BY task_index`,
        [toId(runId)],
      )
      return rows.map((row) => reader.task(row))
    },
    async countReviews(query) {
      const { values, add } = collectValues()
      const [row] = await requests.query(countReviewsSql(dialect, query, add), values)
      return Number(row?.['count'])
    },
  }
}

/** Open reviews of all runs have totals, so that none is read. */
function countReviewsSql(dialect: StoreDialect, query: ReviewQuery, add: AddValue): string {
  if (!isOfAllRuns(query)) {
    return `SELECT count(*) AS count FROM $schema.reviews JOIN $schema.runs ON runs.id = run
      WHERE ${toReviewCondition(dialect, query, add)}`
  }
  const { kinds = REVIEW_KINDS } = query
  return `SELECT coalesce(sum(amount), 0) AS count FROM $schema.totals
    WHERE kind = 'reviews' AND name = ANY(${add(kinds)}::text[])`
}

/** Whether a query is for the open reviews of all runs. */
function isOfAllRuns({ runId, reviewId, open = false }: ReviewQuery): boolean {
  return open && runId === undefined && reviewId === undefined
}

/** Returns the condition of the reviews of a query. */
export function toReviewCondition(
  { texts, reviewOrder, isAmong }: StoreDialect,
  query: ReviewQuery,
  add: AddValue,
): string {
  const { runId, reviewId, open = false, kinds, limit } = query
  if (isOfAllRuns(query)) {
    if (kinds?.length === 0) return 'false'
    const most = limit === undefined ? '' : `LIMIT ${add(clampCount(limit))}`
    // Each kind has a range of the index of open reviews, in their order.
    const ofKinds = (kinds ?? REVIEW_KINDS).map(
      (kind) => `SELECT * FROM (
        SELECT ${reviewOrder} FROM $schema.reviews WHERE status = 'OPEN' AND kind = ${add(kind)}
        ORDER BY ${reviewOrder} ${most}) AS of_kind`,
    )
    const first = `SELECT ${reviewOrder} FROM (${ofKinds.join(' UNION ALL ')}) AS found
      ORDER BY ${reviewOrder} ${most}`
    return `reviews.${reviewOrder} ${isAmong(first)}`
  }
  const conditions = ['true']
  if (runId !== undefined) conditions.push(`run_id = ${add(texts.encode.id(runId))}`)
  if (reviewId !== undefined) conditions.push(`review_id = ${add(texts.encode.id(reviewId))}`)
  // An expression excludes the index of open reviews, which has those of all runs.
  if (open) conditions.push(`coalesce(reviews.status, '') = 'OPEN'`)
  if (kinds !== undefined) conditions.push(`reviews.kind = ANY(${add(kinds)}::text[])`)
  return conditions.join(' AND ')
}
