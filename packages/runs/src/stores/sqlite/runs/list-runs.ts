/**
 * Lists runs of the embedded store, newest first.
 *
 * Each filter of a query has an index that returns its runs from the newest on. A list walks the index of the filter with
 * the fewest runs and checks the others run by run, so its cost does not grow with the stored runs.
 */
import { clampCount } from '../../shared/query-numbers.ts'
import { LISTED_COLUMNS } from '../../shared/record-fields.ts'
import { MAX_COUNTED } from '../../../ports/run-store.ts'
import { toTagIndex } from '../../shared/schema/tag-index.ts'
import { TASK_TOTALS, toRunListPage } from '../../shared/runs/list-runs.ts'
import { collectValues, type AddValue } from '../../shared/schema/dialect.ts'
import { IS_TOO_LONG } from '../schema/migrations.ts'
import { sqliteDialect } from '../schema/dialect.ts'
import { sqliteRecords } from '../rows/rows.ts'
import { toSearchTerm } from './search-text.ts'

import type { RunListPage, RunQuery } from '../../../ports/run-store.ts'
import type { SqliteStatements } from '../database/statements.ts'

/** Implements `RunStore.list`. */
export function listStoredRuns(statements: SqliteStatements, query: RunQuery): RunListPage {
  const { limit, offset = 0, before = Infinity } = query
  const { values, add } = collectValues()
  const walk = chooseWalk(statements, toFilters(query, add), values)
  const page = [before, limit, offset].map(clampCount)
  const [found] = statements.run(foundSql(walk, values.length), [...values, ...page])
  const count = Number(found?.['count'])
  const ids = JSON.parse(String(found?.['ids'])) as readonly number[]
  // The page may continue after the counted runs.
  const isCut = count > MAX_COUNTED && ids.length < clampCount(limit)
  const rows = isCut
    ? statements.run(pageSql(laterSql(walk, values.length)), [...values, ...page])
    : ids.length === 0
      ? []
      : statements.run(pageSql('SELECT value AS id FROM json_each($1)'), [ids])
  return toRunListPage(sqliteRecords, rows, count)
}

/** A range of an index. */
interface Branch {
  readonly from: string
  /** The expression of the row id of a run, with its table, because conditions use it in subqueries. */
  readonly id: string
  readonly where: string
}

/** A condition of a query. */
interface RunFilter {
  /** The ranges that contain the matching runs, each run in one of them and the newest first. */
  readonly branches: readonly Branch[]
  /** The same in any order, for a filter whose `branches` search the text of each run. */
  readonly unordered?: readonly Branch[]
  /** Returns the condition that the run with this row id matches. */
  matches(id: string): string
}

/** The runs of one filter that match all filters. */
interface Walk {
  readonly branches: readonly Branch[]
  readonly others: readonly RunFilter[]
}

function toFilters(query: RunQuery, add: AddValue): readonly RunFilter[] {
  const { ensemble, statuses, tag, threadId, cacheKey, text } = query
  const { id: toId, key: toKey } = sqliteDialect.texts.encode
  const filters: RunFilter[] = []
  if (ensemble !== undefined) filters.push(ofRuns([`ensemble = ${add(toId(ensemble))}`]))
  if (statuses !== undefined) {
    filters.push(ofRuns([...new Set(statuses)].map((status) => `status = ${add(status)}`)))
  }
  if (tag !== undefined) {
    filters.push(byTable('run_tags', `tag = ${add(toTagIndex(tag.key, tag.value))}`))
  }
  if (threadId !== undefined) {
    filters.push(byTable('thread_runs', `thread_id = ${add(toId(threadId))}`))
  }
  if (cacheKey !== undefined) filters.push(ofRuns([`cache_key = ${add(toKey(cacheKey))}`]))
  if (text !== undefined) filters.push(...byText(text, add))
  return filters
}

/** Returns the filter of runs that match one of these conditions. */
function ofRuns(conditions: readonly string[]): RunFilter {
  const any = conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`
  return {
    branches: conditions.map((where) => ({ from: 'runs', id: 'runs.id', where })),
    matches: (id) => `EXISTS (SELECT 1 FROM runs AS one WHERE one.id = ${id} AND ${any})`,
  }
}

/** Returns the filter of runs with a row in another table. */
function byTable(table: string, where: string): RunFilter {
  return {
    branches: [{ from: table, id: `${table}.run`, where }],
    matches: (id) => `EXISTS (SELECT 1 FROM ${table} AS one WHERE one.run = ${id} AND ${where})`,
  }
}

/** Returns the filter by text. The search text is not a pattern: `%` and `_` have no special meaning. */
function byText(text: string, add: AddValue): readonly RunFilter[] {
  const term = toSearchTerm(text)
  if (term === undefined) return []
  const needles = term.needles.map((needle) => add(needle))
  const contains = `(${needles.map((needle) => `instr(text, ${needle}) > 0`).join(' OR ')})`
  const branch = (where: string): Branch => ({
    from: 'run_texts',
    id: 'run_texts.run',
    where: `${where} AND ${contains}`,
  })
  const notIndexed = [
    branch(`run > (SELECT run FROM indexed_texts) AND NOT (${IS_TOO_LONG})`),
    branch(IS_TOO_LONG),
  ]
  const filter = {
    matches: (id: string) =>
      `EXISTS (SELECT 1 FROM run_texts AS one WHERE one.run = ${id} AND ${contains})`,
  }
  if (term.query !== undefined) {
    const indexed = {
      from: 'run_index',
      id: 'run_index.rowid',
      where: `run_index MATCH ${add(term.query)}`,
    }
    return [{ ...filter, branches: [indexed, ...notIndexed] }]
  }
  const indexed = term.ranges.map(([first, last], at) => ({
    from: `(SELECT DISTINCT doc AS run FROM run_index_terms
      WHERE term >= ${add(first)} AND term <= ${add(last)}) AS ranged`,
    id: 'ranged.run',
    // A run whose text and id match is found by its text.
    where:
      at === 0
        ? 'true'
        : `NOT EXISTS (SELECT 1 FROM run_texts AS one
            WHERE one.run = ranged.run AND instr(text, ${needles[0]}) > 0)`,
  }))
  return [{ ...filter, branches: [branch('true')], unordered: [...indexed, ...notIndexed] }]
}

const ALL: RunFilter = {
  branches: [{ from: 'runs', id: 'runs.id', where: 'true' }],
  matches: () => 'true',
}

/** Chooses the filter whose runs are walked: the one with the fewest. */
function chooseWalk(
  statements: SqliteStatements,
  filters: readonly RunFilter[],
  values: readonly unknown[],
): Walk {
  const [only = ALL] = filters
  if (filters.length < 2 && only.unordered === undefined) {
    return { branches: only.branches, others: [] }
  }
  const counts = filters.map(
    ({ branches, unordered = branches }, at) =>
      `(SELECT count(*) FROM (${selectIds(unordered, [])} LIMIT ${MAX_COUNTED + 1})) AS n${at}`,
  )
  const [row] = statements.run(`SELECT ${counts.join(', ')}`, values)
  const sizes = filters.map((_, at) => Number(row?.[`n${at}`]))
  const least = sizes.indexOf(Math.min(...sizes))
  const { branches, unordered = branches } = filters[least] ?? ALL
  return {
    branches: Number(sizes[least]) > MAX_COUNTED ? branches : unordered,
    others: filters.filter((_, at) => at !== least),
  }
}

/** Builds the query for the row ids of the runs of `branches` that match the other filters. */
function selectIds(
  branches: readonly Branch[],
  others: readonly RunFilter[],
  before?: string,
): string {
  if (branches.length === 0) return 'SELECT NULL AS id WHERE false'
  return branches
    .map(({ from, id, where }) => {
      const bounds = before === undefined ? [] : [`${id} < ${before}`]
      const all = [where, ...bounds, ...others.map((filter) => filter.matches(id))]
      return `SELECT ${id} AS id FROM ${from} WHERE ${all.join(' AND ')}`
    })
    .join(' UNION ALL ')
}

/**
 * Builds the statement that counts matching runs, up to one more than are counted, and finds a page of their ids. Its
 * parameters follow the values of all filters.
 */
function foundSql({ branches, others }: Walk, count: number): string {
  return `
    WITH found AS MATERIALIZED (
      ${selectIds(branches, others)} ORDER BY id DESC LIMIT ${MAX_COUNTED + 1}
    )
    SELECT (SELECT count(*) FROM found) AS count, (
      SELECT json_group_array(id) FROM (
        SELECT id FROM found WHERE id < $${count + 1} LIMIT $${count + 2} OFFSET $${count + 3}
      )
    ) AS ids`
}

/** Builds the query for a page of row ids, however many runs are newer. */
function laterSql({ branches, others }: Walk, count: number): string {
  return `${selectIds(branches, others, `$${count + 1}`)}
    ORDER BY id DESC LIMIT $${count + 2} OFFSET $${count + 3}`
}

/**
 * Builds the statement for runs and the usage of their tasks. The plus in `+status` disables the index on the status of
 * reviews, which would scan all open reviews for each run. The cross joins fix the order of their tables; otherwise all
 * tasks of the store would be scanned.
 */
function pageSql(ids: string): string {
  return `
    WITH ids AS MATERIALIZED (${ids}), page AS MATERIALIZED (
      SELECT ${LISTED_COLUMNS} FROM ids CROSS JOIN runs USING (id)
    ), used AS (
      SELECT run, ${TASK_TOTALS},
        min(task_index) FILTER (WHERE tasks.status = 'RUNNING' AND page.state <> 'ended')
          AS current_index
      FROM page CROSS JOIN tasks ON run = page.id GROUP BY run
    )
    SELECT page.*, used.*,
      (SELECT name FROM tasks WHERE run = page.id AND task_index = current_index) AS current_name,
      (SELECT count(*) FROM reviews WHERE run = page.id AND +status = 'OPEN' AND kind <> 'EVENT')
        AS open_reviews
    FROM page LEFT JOIN used ON run = page.id
    ORDER BY page.id DESC`
}
