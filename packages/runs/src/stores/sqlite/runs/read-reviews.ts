/** Reads reviews of the embedded store. */
import { toReviewCondition } from '../../shared/runs/read-runs.ts'
import { collectValues } from '../../shared/schema/dialect.ts'
import { sqliteRecords } from '../rows/rows.ts'
import { sqliteDialect } from '../schema/dialect.ts'

import type { ReviewQuery } from '../../../ports/run-store.ts'
import type { ReviewRecord } from '../../../domain/run-record.ts'
import type { StoredRow } from '../../shared/column-reader.ts'
import type { SqliteStatements } from '../database/statements.ts'

/** Returns reviews in the order in which they opened. Rows beyond `maxBytes` are not read. */
export function readReviews(
  statements: SqliteStatements,
  { maxBytes = Infinity, ...query }: ReviewQuery,
): readonly ReviewRecord[] {
  const { values, add } = collectValues()
  const found = statements.iterate(
    `SELECT reviews.*, run_id, ensemble, inputs, tags, actor
     FROM reviews JOIN runs ON runs.id = reviews.run JOIN requests USING (run)
     WHERE ${toReviewCondition(sqliteDialect, query, add)} ORDER BY n`,
    values,
  )
  const reviews: ReviewRecord[] = []
  let bytes = 0
  for (const row of found) {
    reviews.push(sqliteRecords.review(row))
    bytes += measureReview(row)
    if (bytes >= maxBytes) break
  }
  return reviews
}

function measureReview(row: StoredRow): number {
  const texts = [row['request'], row['inputs'], row['tags']]
  return texts.reduce<number>((size, text) => size + String(text).length, 0)
}
