/** Lists runs of the Postgres store, newest first. */
import { RunStatus } from '@tutti/protocol'

import { clampCount } from '../../shared/query-numbers.ts'
import { LISTED_COLUMNS } from '../../shared/record-fields.ts'
import { MAX_COUNTED } from '../../../ports/run-store.ts'
import { normalizeForSearch } from '../../shared/search-text.ts'
import { toTermGrams } from './grams.ts'
import { postgresRecords } from '../rows/rows.ts'
import { hasTag, postgresDialect } from '../schema/dialect.ts'
import { TASK_TOTALS, toRunListPage } from '../../shared/runs/list-runs.ts'
import { collectValues } from '../../shared/schema/dialect.ts'

import type { RunListPage, RunQuery } from '../../../ports/run-store.ts'
import type { Database } from '../database/database.ts'
import type { StoredRow } from '../../shared/column-reader.ts'
import type { AddValue } from '../../shared/schema/dialect.ts'

/**
 * Implements `RunStore.list`. Reads at most one more than the counted runs first, unordered, so the planner can use the
 * most selective index. If there are more, it walks an ordered index from the newest run to find a page. A status, an
 * ensemble or both have their own index, so newer runs that do not match cost nothing.
 */
export async function queryRuns(database: Database, query: RunQuery): Promise<RunListPage> {
  const { limit, offset = 0, before = Infinity } = query
  if (query.statuses?.length === 0) return { runs: [], total: 0, isCapped: false }
  const { schema } = database
  const filter = toFilter(query)
  const grams = filter.text?.grams
  const values = [...filter.values, ...[before, limit, offset].map(clampCount)]
  const [found] = await database.query(
    candidatesSql(schema, filter),
    grams === undefined ? values : [...values, grams],
  )
  const count = Number(found?.['count'])
  const isCapped = count > MAX_COUNTED
  const rows = isCapped
    ? await database.query(pageSql(schema, walkSql(schema, filter)), values)
    : await readPage(database, found?.['ids'])
  return toRunListPage(postgresRecords, rows, count)
}

/** Reads the runs of an array of ids. */
function readPage(database: Database, ids: unknown): Promise<readonly StoredRow[]> {
  const { schema } = database
  const source = `SELECT ${LISTED_COLUMNS} FROM ${schema}.runs WHERE id = ANY($1::int8[])`
  return database.query(pageSql(schema, source), [ids])
}

/** Conditions of a query, and their parameters. */
interface Filter {
  /** Conditions on `runs`, apart from the text. */
  readonly conditions: readonly string[]
  readonly indexed?: IndexedFilter
  readonly values: readonly unknown[]
  readonly text?: SearchTerm
}

/** Conditions on columns that have an index together with the id: the status, or the ensemble and the status. */
interface IndexedFilter {
  readonly columns: readonly string[]
  /** Expressions of values, in the order of the columns; one of these lists matches. */
  readonly anyOf: readonly (readonly string[])[]
  /** All other conditions on `runs`. */
  readonly others: readonly string[]
  /** Whether the query has only these conditions. */
  readonly isAlone: boolean
}

/** A search text. */
interface SearchTerm {
  /** Its parameter. */
  readonly term: string
  /** Its grams; absent when it is empty. */
  readonly grams?: readonly number[]
}

function toFilter(query: RunQuery): Filter {
  const { text } = query
  const { values, add } = collectValues()
  const conditions = toRunConditions(query, add)
  const { ensemble, statuses, others } = conditions
  const ensembles = ensemble === undefined ? [] : [ensemble]
  const anyStatus =
    statuses === undefined
      ? RunStatus.enum.map((status) => `'${status}'`)
      : [...new Set(query.statuses)].map((_, index) => `(${statuses})[${index + 1}]`)
  const indexed: IndexedFilter = {
    columns: [...ensembles.map(() => 'ensemble'), 'status'],
    anyOf: anyStatus.map((status) => [...ensembles, status]),
    others,
    isAlone: others.length === 0 && text === undefined,
  }
  const isIndexed = ensemble !== undefined || statuses !== undefined
  const filter = { conditions: conditions.all, values, ...(isIndexed ? { indexed } : {}) }
  if (text === undefined) return filter
  const normalized = normalizeForSearch(text)
  const grams = toTermGrams(normalized)
  const term = `${add(normalized)}::text`
  return { ...filter, text: { term, ...(grams.length === 0 ? {} : { grams }) } }
}

/** Conditions of a query on `runs`, apart from its text. */
interface RunConditions {
  /** The parameters of the columns that have an index together with the id; `statuses` is an array. */
  readonly ensemble?: string
  readonly statuses?: string
  /** The conditions on other columns. */
  readonly others: readonly string[]
  /** All conditions. */
  readonly all: readonly string[]
}

/** Returns the conditions of a query. */
function toRunConditions(
  { statuses, tag, ensemble, threadId, cacheKey }: RunQuery,
  add: AddValue,
): RunConditions {
  const { id: toId, key: toKey } = postgresDialect.texts.encode
  const others: string[] = []
  if (tag !== undefined) others.push(hasTag(tag, add))
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

/** Builds the statement that counts matching runs, up to one more than are counted, and finds a page of their ids. */
function candidatesSql(schema: string, filter: Filter): string {
  const { before, limit, offset } = pageParameters(filter)
  return `
    WITH found AS MATERIALIZED (${foundSql(schema, filter)} LIMIT ${MAX_COUNTED + 1})
    SELECT (SELECT count(*) FROM found) AS count, ARRAY(
      SELECT id FROM found WHERE id < ${before} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}
    ) AS ids`
}

function foundSql(schema: string, filter: Filter): string {
  const { conditions, indexed, values, text } = filter
  if (indexed?.isAlone === true) {
    return `SELECT id FROM (${walkIndexedSql(schema, filter, {
      indexed,
      before: String(Number.MAX_SAFE_INTEGER),
      limit: String(MAX_COUNTED + 1),
    })}) AS walked`
  }
  const select = (more: readonly string[], join = ''): string =>
    `SELECT id FROM ${schema}.runs ${join} ${toWhere([...conditions, ...more])}`
  if (text === undefined) return select([])
  const { term, grams } = text
  // The search text is not a pattern: `%` and `_` have no special meaning.
  const contains = `strpos(text, ${term}) > 0`
  const selectText = (...more: readonly string[]): string =>
    conditions.length === 0
      ? `SELECT run AS id FROM ${schema}.run_texts ${toWhere([...more, contains])}`
      : select([...more, contains], `JOIN ${schema}.run_texts ON run = id`)
  const branches = [
    select([`upper(run_id COLLATE "C") ^@ ${term}`]),
    ...(grams === undefined
      ? [selectText()]
      : [
          selectText(`grams @> $${values.length + 4}::int2[]`),
          // Texts that are too long for the index.
          selectText('grams IS NULL'),
        ]),
  ]
  const limited = branches.map((branch) => `(${branch} LIMIT ${MAX_COUNTED + 1})`)
  return `SELECT DISTINCT id FROM (${limited.join(' UNION ALL ')}) AS texts`
}

/** Builds the statement that reads a page of matching runs from the newest one on. */
function walkSql(schema: string, filter: Filter): string {
  const { before, limit, offset } = pageParameters(filter)
  const { indexed, conditions } = filter
  const most = { before, limit: `${limit}::int8 + ${offset}::int8` }
  const ids =
    indexed === undefined
      ? walkedSql(schema, filter, [`id < ${before}`, ...conditions])
      : `SELECT id FROM (${walkIndexedSql(schema, filter, { indexed, ...most })}) AS walked`
  return `SELECT ${LISTED_COLUMNS} FROM ${schema}.runs
    JOIN (${ids} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}) AS found USING (id)`
}

/** Builds the query for the ids of runs that match the text and other conditions. */
function walkedSql(schema: string, { text }: Filter, conditions: readonly string[]): string {
  if (text === undefined) return `SELECT id FROM ${schema}.runs ${toWhere(conditions)}`
  const matches = `(upper(run_id COLLATE "C") ^@ ${text.term} OR strpos(text, ${text.term}) > 0)`
  return `SELECT id FROM ${schema}.runs LEFT JOIN ${schema}.run_texts ON run = id
    ${toWhere([...conditions, matches])}`
}

/** A walk of an index: up to `limit` runs with each of the values from the row id `before` on, as expressions. */
interface IndexedWalk {
  readonly indexed: IndexedFilter
  readonly before: string
  readonly limit: string
}

/**
 * Builds the query for the ids of the newest runs with each indexed value. With other conditions, the planner may
 * use another index. Otherwise the form of the condition leaves it no choice: it expects the values to be spread evenly
 * over all runs, and would read a large part of them where they are not.
 */
function walkIndexedSql(
  schema: string,
  filter: Filter,
  { indexed, before, limit }: IndexedWalk,
): string {
  const { columns, anyOf, others, isAlone } = indexed
  const order = [...columns, 'id'].map((column) => `${column} DESC`).join(', ')
  const branches = anyOf.map((values) => {
    const bounds = isAlone
      ? [
          `(${columns.join(', ')}) >= (${values.join(', ')})`,
          `(${columns.join(', ')}, id) < (${values.join(', ')}, ${before})`,
        ]
      : [...columns.map((column, index) => `${column} = ${values[index]}`), `id < ${before}`]
    return `(${walkedSql(schema, filter, [...bounds, ...others])}
      ORDER BY ${order} LIMIT ${limit})`
  })
  return branches.join(' UNION ALL ')
}

/** The parameters of a page, which follow those of the conditions. */
function pageParameters({ values: { length } }: Filter) {
  return { before: `$${length + 1}::int8`, limit: `$${length + 2}`, offset: `$${length + 3}` }
}

function toWhere(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

/** Builds the statement that adds to the runs of `source` the usage of their tasks and what they wait for. */
function pageSql(schema: string, source: string): string {
  return `
    SELECT page.*, used.*, at_work.*, asked.*
    FROM (${source}) AS page
    LEFT JOIN LATERAL (
      SELECT ${TASK_TOTALS} FROM ${schema}.tasks WHERE run = page.id
    ) AS used ON true
    LEFT JOIN LATERAL (
      SELECT task_index AS current_index, name AS current_name FROM ${schema}.tasks
      WHERE run = page.id AND status = 'RUNNING' AND page.state <> 'ended'
      ORDER BY task_index LIMIT 1
    ) AS at_work ON true
    LEFT JOIN LATERAL (
      SELECT count(*) AS open_reviews FROM ${schema}.reviews
      WHERE run = page.id AND status = 'OPEN' AND kind <> 'EVENT'
    ) AS asked ON true
    ORDER BY page.id DESC`
}
