/**
 * Fills a store in Postgres with ended runs: some are executed, and SQL copies their rows. It reads the tables and
 * columns of the store from the catalog, so that the copies have all that the store writes for a run. Each set of copies
 * has other ids, tags and inputs, and is younger than the one before.
 */
import { join } from 'node:path'

import { toGrams } from '../../../packages/runs/src/stores/postgres/runs/grams.ts'
import { query } from './query.ts'
import { awaitEnd, openService } from './runs-services.ts'
import { teamNamed } from './runs-teams.ts'

import type { PostgresLocation } from './runs-locations.ts'

/** Number of executed runs, and of the copies of each. */
export interface BigDatabaseOptions {
  readonly executed: number
  readonly copies: number
  /**
   * Directory that the server can write and read. Rows are copied through its files, frozen, each table in one
   * transaction: with `wal_level=minimal` without WAL, and no later reader or VACUUM changes their pages. @default none;
   * then rows are inserted
   */
  readonly directory?: string
}

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
}

/** In ids, tags and inputs of executed runs; the number of the set of copies is added to it. */
const MARK = 7_000_000

/** Time between two sets of copies, in seconds. */
const COPY_EVERY_S = 600

/** Sets of copies per statement. */
const SETS = 10

/** The largest tables. */
const LARGE = ['events', 'steps']

/** Number of connections that copy. */
const WRITERS = 2

/** Executes runs and copies them. */
export async function fillDatabase(
  location: PostgresLocation,
  options: BigDatabaseOptions,
): Promise<void> {
  await executeRuns(location, options.executed)
  const { connectionString: url, schema } = location
  // Triggers of foreign keys are off, because every copy refers to a copied run.
  const settings = `SET search_path = ${schema}; SET session_replication_role = replica;
    SET synchronous_commit = off`
  const columns = await readColumns(url, schema)
  const [counted] = await query(url, settings, 'SELECT max(id) AS newest FROM runs')
  const newest = Number(counted?.['newest'])
  const aged = columns
    .filter(({ table, name }) => table === 'runs' && name.endsWith('_at'))
    .map((column) => `"${column.name}" = ${later(column, `-${options.copies}`)}`)
  await query(url, settings, `UPDATE runs SET ${aged.join(', ')}`)
  const tables = [...new Set(columns.map(({ table }) => table))]
  const createIndexes = await dropIndexes(url, settings, schema)
  const source = `${schema}_executed`
  await query(
    url,
    settings,
    `CREATE SCHEMA ${source}`,
    ...tables.map((table) => keepSql({ source, table, newest })),
  )
  const starts = Array.from({ length: Math.ceil(options.copies / SETS) }, (_, at) => at * SETS + 1)
  const copies = (table: string, from: number): TableCopy => ({
    table,
    columns: columns.filter((column) => column.table === table),
    from,
    to: Math.min(from + SETS - 1, options.copies),
    newest,
    source,
  })
  const { directory } = options
  if (directory === undefined) {
    await inParallel(starts, async (from) => {
      await query(url, settings, ...tables.map((table) => insertSql(copies(table, from))))
    })
  } else {
    await inParallel(largestFirst(tables), async (table) => {
      const file = join(directory, table)
      const statements = starts.flatMap((from) => freezeSql(copies(table, from), file))
      // Gives the table new files, which this transaction has created.
      await query(
        url,
        settings,
        'BEGIN',
        `CLUSTER "${table}" USING "${table}_pkey"`,
        ...statements,
        'COMMIT',
      )
    })
  }
  await query(url, `DROP SCHEMA ${source} CASCADE`)
  await inParallel(createIndexes, async (create) => {
    await query(url, settings, create)
  })
  await query(
    url,
    settings,
    `SELECT setval(pg_get_serial_sequence('runs', 'id'), (SELECT max(id) FROM runs))`,
    // The triggers that maintain these totals are off.
    `DELETE FROM totals WHERE kind = 'cost'`,
    `INSERT INTO totals (kind, name, period, amount)
       SELECT 'cost', actor_index, floor(created_at / 120000), sum(cost_usd::numeric) FROM runs
       WHERE actor_index IS NOT NULL AND cost_usd IS NOT NULL GROUP BY actor_index, 3`,
    'VACUUM ANALYZE',
  )
}

/** Returns the submission of an executed run; `set` is the number of the set of copies, 0 for none. */
export function submissionOf(index: number, set = 0) {
  const id = `${MARK + set}-${index}`
  const ticket = `T-${id}`
  return {
    runId: `run-${id}`,
    ticket,
    submission: {
      runId: `run-${id}`,
      inputs: { topic: `report ${id}`, goods: index % 50 === 0 ? 'none' : 'tea' },
      tags: { team: `t${index % 100}`, ticket },
      actor: `key-${index % 30}`,
    },
  }
}

async function executeRuns(location: PostgresLocation, count: number): Promise<void> {
  const options = { maxConcurrentRuns: 20, maxQueuedRuns: count }
  await using opened = await openService(location, await teamNamed('ledger'), options)
  const { service } = opened
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      const { runId, submission } = submissionOf((next += 1))
      await service.submit(submission)
      await awaitEnd(service, runId, ['COMPLETED', 'FAILED'])
    }
  }
  await Promise.all(Array.from({ length: 20 }, work))
}

/** Does something for each item, on as many connections as there are writers. */
async function inParallel<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item)
  }
  await Promise.all(Array.from({ length: WRITERS }, work))
}

/** Returns the tables with those first that take the longest to copy. */
function largestFirst(tables: readonly string[]): readonly string[] {
  const rank = (table: string): number =>
    LARGE.indexOf(table) + (LARGE.includes(table) ? 0 : LARGE.length + 1)
  return tables.toSorted((a, b) => rank(a) - rank(b))
}

/** Drops the indexes that no constraint needs, because they are created faster than extended. Returns their statements. */
async function dropIndexes(
  url: string,
  settings: string,
  schema: string,
): Promise<readonly string[]> {
  const rows = await query(
    url,
    settings,
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS create_sql
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
     WHERE relnamespace = '${schema}'::regnamespace AND relname IN ('runs', 'run_texts')
       AND NOT indisunique ORDER BY pg_relation_size(indexrelid) DESC`,
  )
  const names = rows.map((row) => String(row['name']))
  await query(url, settings, `DROP INDEX ${names.join(', ')}`)
  return rows.map((row) => String(row['create_sql']))
}

/** Returns the columns that a copy sets: of the runs, and of the tables whose primary key begins with the run. */
async function readColumns(url: string, schema: string): Promise<readonly Column[]> {
  const rows = await query(
    url,
    `SELECT table_name, column_name, CASE data_type WHEN 'ARRAY' THEN udt_name ELSE data_type END
       AS type FROM information_schema.columns
     WHERE table_schema = '${schema}' AND is_generated = 'NEVER'
       AND (table_name = 'runs' OR (table_schema, table_name, 'run') IN (
         SELECT table_schema, table_name, column_name
         FROM information_schema.key_column_usage JOIN information_schema.table_constraints
           USING (constraint_schema, constraint_name, table_schema, table_name)
         WHERE constraint_type = 'PRIMARY KEY' AND key_column_usage.ordinal_position = 1))
     ORDER BY table_name <> 'runs', table_name, ordinal_position`,
  )
  return rows.map((row) => ({
    table: String(row['table_name']),
    name: String(row['column_name']),
    type: String(row['type']),
  }))
}

/** Sets of copies of the rows of a table. */
interface TableCopy {
  readonly table: string
  readonly columns: readonly Column[]
  /** Numbers of the first and the last set. */
  readonly from: number
  readonly to: number
  /** Greatest row id of the executed runs. */
  readonly newest: number
  /** Schema of the tables with the executed rows. */
  readonly source: string
}

/**
 * Returns the statement that copies the executed rows of a table to a separate table. Those of the store are not read
 * while they grow: their statistics would make each statement read all of their rows.
 */
function keepSql({
  source,
  table,
  newest,
}: Pick<TableCopy, 'source' | 'table' | 'newest'>): string {
  const key = keyOf(table)
  return `CREATE TABLE ${source}."${table}" AS
    SELECT * FROM "${table}" WHERE ${key} <= ${newest} ORDER BY ${key}`
}

/** Returns the column with the row id of the run. */
function keyOf(table: string): string {
  return table === 'runs' ? 'id' : 'run'
}

function insertSql(copy: TableCopy): string {
  return `INSERT INTO "${copy.table}" (${listNames(copy)}) OVERRIDING SYSTEM VALUE ${selectCopies(copy)}`
}

/** Returns the statements that copy through a file of the server, in a transaction that has created the table's files. */
function freezeSql(copy: TableCopy, file: string): readonly string[] {
  return [
    `COPY (${selectCopies(copy)}) TO '${file}' (FORMAT binary)`,
    `COPY "${copy.table}" (${listNames(copy)}) FROM '${file}' (FORMAT binary, FREEZE)`,
  ]
}

function listNames({ columns }: TableCopy): string {
  return columns.map(({ name }) => `"${name}"`).join(', ')
}

function selectCopies({ table, columns, from, to, newest, source }: TableCopy): string {
  const key = keyOf(table)
  const values = columns.map((column) => {
    if (column.name === key) return `${key} + copy * ${newest}`
    if (column.table === 'runs' && column.name.endsWith('_at')) return later(column, 'copy')
    // Events and steps are long, and their texts are not searched.
    if (['events', 'steps'].includes(table)) return `"${column.name}"`
    if (column.name === 'grams') return 'grams || mark_grams'
    return marked(column)
  })
  const sets = Array.from(
    { length: to - from + 1 },
    (_, at) => `(${from + at}, '{${gramsOfMark(from + at).join()}}'::int2[])`,
  )
  // With the reference to `copy` and OFFSET, the planner must finish one set before the next, so keys arrive in order.
  return `
    SELECT ${values.join(', ')} FROM (VALUES ${sets.join()}) AS sets (copy, mark_grams),
      LATERAL (SELECT * FROM ${source}."${table}" WHERE copy > 0 OFFSET 0) AS executed`
}

function later({ name, type }: Column, sets: string): string {
  return type === 'double precision'
    ? `"${name}" + ${sets} * ${COPY_EVERY_S * 1_000}`
    : `"${name}" + ${sets} * interval '${COPY_EVERY_S} seconds'`
}

function marked({ name, type }: Column): string {
  const replaced = `replace("${name}"::text, '${MARK}', (${MARK} + copy)::text)`
  if (type === 'text') return replaced
  return type === '_text' ? `${replaced}::text[]` : `"${name}"`
}

/** Returns the grams of the texts of a set of copies that those of the executed runs do not have. */
function gramsOfMark(set: number): readonly number[] {
  const mark = String(MARK + set)
  const texts = [`T ${mark}-`, `T-${mark}-`]
  for (let digit = 1; digit <= 9; digit += 1) texts.push(`${mark.slice(-1)}-${digit}`)
  return [...new Set(texts.flatMap((text) => toGrams(text) ?? []))]
}
