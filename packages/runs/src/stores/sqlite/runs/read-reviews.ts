/** Reads and counts reviews of the embedded store, in the order in which they opened. */
import { prepareRows } from '../database/prepare-rows.ts'
import { sqliteRecords } from '../rows/rows.ts'

import type { ReviewQuery } from '../../../ports/run-store.ts'
import type { ReviewRecord } from '../../../domain/run-record.ts'
import type { DatabaseSync } from 'node:sqlite'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Returns the function that reads reviews. */
export function prepareReviewReader(
  database: DatabaseSync,
): (query: ReviewQuery) => readonly ReviewRecord[] {
  return ({ maxBytes = Infinity, ...query }) => {
    const { where, values } = toFilter(query)
    const found = prepareRows(
      database,
      `SELECT reviews.*, run_id, ensemble, inputs, tags, actor
       FROM reviews JOIN runs ON runs.id = reviews.run JOIN requests USING (run) ${where} ORDER BY n`,
    )
    const reviews: ReviewRecord[] = []
    let bytes = 0
    for (const row of found.iterate(values)) {
      reviews.push(sqliteRecords.review(row))
      bytes += measureReview(row)
      if (bytes >= maxBytes) break
    }
    return reviews
  }
}

/** Returns the function that counts reviews. */
export function prepareReviewCounter(database: DatabaseSync): (query: ReviewQuery) => number {
  return (query) => {
    const { where, values } = toFilter(query)
    const row = database
      .prepare(`SELECT count(*) AS count FROM reviews JOIN runs ON runs.id = run ${where}`)
      .get(values)
    return Number(row?.['count'])
  }
}

interface Filter {
  readonly where: string
  readonly values: Record<string, string>
}

function toFilter({ runId, reviewId, open = false, kinds }: ReviewQuery): Filter {
  const conditions = [
    ...(runId === undefined ? [] : ['run_id = $runId']),
    ...(reviewId === undefined ? [] : ['review_id = $reviewId']),
    ...(open ? [`reviews.status = 'OPEN'`] : []),
    ...(kinds === undefined ? [] : ['reviews.kind IN (SELECT value FROM json_each($kinds))']),
  ]
  return {
    where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`,
    values: {
      ...(runId === undefined ? {} : { runId }),
      ...(reviewId === undefined ? {} : { reviewId }),
      ...(kinds === undefined ? {} : { kinds: JSON.stringify(kinds) }),
    },
  }
}

function measureReview(row: StoredRow): number {
  const texts = [row['request'], row['inputs'], row['tags']]
  return texts.reduce<number>((size, text) => size + String(text).length, 0)
}
