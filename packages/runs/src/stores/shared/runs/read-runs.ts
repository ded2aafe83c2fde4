/** Reads runs, their tasks, and the number of reviews. */
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
      const [row] = await requests.query(
        `SELECT count(*) AS count FROM $schema.reviews JOIN $schema.runs ON runs.id = run
         WHERE ${toReviewCondition(dialect, query, add)}`,
        values,
      )
      return Number(row?.['count'])
    },
  }
}

/** Returns the condition of the reviews of a query. */
export function toReviewCondition(
  { texts }: StoreDialect,
  { runId, reviewId, open = false, kinds }: ReviewQuery,
  add: AddValue,
): string {
  const conditions = ['true']
  if (runId !== undefined) conditions.push(`run_id = ${add(texts.encode.id(runId))}`)
  if (reviewId !== undefined) conditions.push(`review_id = ${add(texts.encode.id(reviewId))}`)
  if (open) {
    // An expression excludes the index of statuses, which has the open reviews of all runs.
    const isNarrow = runId !== undefined || reviewId !== undefined
    conditions.push(`${isNarrow ? "coalesce(reviews.status, '')" : 'reviews.status'} = 'OPEN'`)
  }
  if (kinds !== undefined) conditions.push(`reviews.kind = ANY(${add(kinds)}::text[])`)
  return conditions.join(' AND ')
}
