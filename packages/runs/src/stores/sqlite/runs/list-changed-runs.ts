/**
 * Lists runs of the embedded store by the time at which their status changed.
 *
 * Without a group, the newest ended and parked runs of each ensemble and status are the first ones of a range of the index
 * `runs_by_change`, so the cost of a page does not depend on their number. All other unfinished runs are read, because they
 * are few, as are the runs of a group.
 */
import { MAX_COUNTED } from '../../../ports/run-store.ts'
import { clampCount } from '../../shared/query-numbers.ts'
import { toTagIndex } from '../../shared/schema/tag-index.ts'
import { toChangedRunsPage, toStatusParts } from '../../shared/runs/list-runs.ts'
import { collectValues } from '../../shared/schema/dialect.ts'
import { IS_IN_CHANGE_INDEX, SQLITE_CHANGED_AT } from '../schema/migrations.ts'
import { sqliteDialect } from '../schema/dialect.ts'

import type { ChangedRunsPage, ChangedRunsQuery } from '../../../ports/run-store.ts'
import type { StoredRow } from '../../shared/column-reader.ts'
import type { SqliteStatements } from '../database/statements.ts'

/** Implements `RunStore.listByChange`. */
export function listRunsByChange(
  statements: SqliteStatements,
  query: ChangedRunsQuery,
): ChangedRunsPage {
  const ranges = query.group === undefined ? listRanges(query) : listGroupRanges(query, query.group)
  const found: StoredRow[] = []
  let total = 0
  for (const range of ranges) {
    const { counted, page } = toStatements(query, range)
    const [row] = total > MAX_COUNTED ? [] : statements.run(...counted)
    total += Number(row?.['total'] ?? 0)
    found.push(...statements.run(...page))
  }
  const rows = found.toSorted(compareChanges).slice(0, clampCount(query.limit))
  return toChangedRunsPage(sqliteDialect, rows, total)
}

/** Runs of a query. */
interface ChangedRange {
  readonly from: string
  readonly conditions: readonly string[]
  readonly values: readonly unknown[]
}

/** Returns a range of the index for each ensemble and status of ended and parked runs, and the other runs. */
function listRanges({
  ensembles,
  statuses,
  awaitsReview,
}: ChangedRunsQuery): readonly ChangedRange[] {
  return toStatusParts(statuses, awaitsReview).flatMap(({ statuses: ofPart, condition }) => {
    const indexed = [...new Set(ensembles)].flatMap((ensemble) =>
      ofPart.map((status) => ({
        from: 'runs',
        conditions: ['ensemble = $1', 'status = $2', IS_IN_CHANGE_INDEX, condition],
        values: [ensemble, status],
      })),
    )
    const others = {
      from: 'runs',
      conditions: [`state IN ('ready', 'owned')`, ...OF_ENSEMBLES, condition],
      values: [ensembles, ofPart],
    }
    return [...indexed, others]
  })
}

const OF_ENSEMBLES = ['ensemble = ANY($1::text[])', 'status = ANY($2::text[])']

/** Returns the runs with the tag of a group, and the run whose id is its value. */
function listGroupRanges(
  { ensembles, statuses, awaitsReview }: ChangedRunsQuery,
  { tag: key, value }: NonNullable<ChangedRunsQuery['group']>,
): readonly ChangedRange[] {
  return toStatusParts(statuses, awaitsReview).flatMap(({ statuses: ofPart, condition }) => {
    const conditions = [...OF_ENSEMBLES, condition]
    const values = [ensembles, ofPart]
    return [
      {
        from: 'run_tags CROSS JOIN runs ON id = run',
        conditions: ['tag = $3', ...conditions],
        values: [...values, toTagIndex(key, value)],
      },
      {
        from: 'runs',
        conditions: [
          'run_id = $3',
          'NOT EXISTS (SELECT 1 FROM run_tags WHERE run = id AND tag = $4)',
          ...conditions,
        ],
        values: [...values, value, toTagIndex(key)],
      },
    ]
  })
}

/** Builds the statements that count the runs of a range, up to one more than are counted, and read its first ones. */
function toStatements({ since, after, limit }: ChangedRunsQuery, range: ChangedRange) {
  const { values, add } = collectValues(...range.values)
  const from = since === undefined ? [] : [`${SQLITE_CHANGED_AT} >= ${add(since)}`]
  const matching = `FROM ${range.from} WHERE ${[...range.conditions, ...from].join(' AND ')}`
  const counted = [
    `SELECT count(*) AS total FROM (SELECT 1 ${matching} LIMIT ${MAX_COUNTED + 1})`,
    [...values],
  ] as const
  const rest =
    after === undefined
      ? ''
      : `AND (${SQLITE_CHANGED_AT}, run_id) < (${add(after.changedAt)}, ${add(after.runId)})`
  const page = [
    `SELECT ${SQLITE_CHANGED_AT} AS changed_at, run_id ${matching} ${rest}
     ORDER BY ${SQLITE_CHANGED_AT} DESC, run_id DESC LIMIT ${add(clampCount(limit))}`,
    values,
  ] as const
  return { counted, page }
}

/** Orders runs by the time of their change, then by id, both from the greatest on. */
function compareChanges(a: StoredRow, b: StoredRow): number {
  const later = Number(b['changed_at']) - Number(a['changed_at'])
  return later === 0 ? (String(a['run_id']) < String(b['run_id']) ? 1 : -1) : later
}
