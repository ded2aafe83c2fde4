/**
 * The statements that all stores share are written once, in the SQL of Postgres. A store executes them after these
 * replacements:
 *
 * | in a statement | is |
 * | --- | --- |
 * | `$schema.runs` | the table `runs` |
 * | `$1`, `$1::int8` | a parameter, with its type if Postgres cannot infer it |
 * | `= ANY($1::text[])` | a comparison with each value of an array, which is one parameter |
 * | `$now` | the present, by the clock of the store |
 */
import type { StoredRow } from '../column-reader.ts'
import type { StoredTexts } from './columns.ts'

/** A statement, and the values of its parameters. */
export type Statement = readonly [sql: string, ...values: unknown[]]

/** Executes statements of the shared code. Each one is atomic. */
export interface StatementRunner {
  /** Executes a statement that only reads, or that a reader waits for. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly StoredRow[]>
  /** Executes a statement that may wait for locks. */
  change(sql: string, values: readonly unknown[]): Promise<readonly StoredRow[]>
  /** Executes statements in one transaction. */
  changeAll(statements: readonly Statement[]): Promise<void>
}

/** Adds a value to a statement and returns its parameter. */
export type AddValue = (value: unknown) => string

/** A tag that rows have: with a value, or with any. */
export interface WantedTag {
  readonly key: string
  readonly value?: string
}

/** The SQL that differs between stores. */
export interface StoreDialect {
  readonly texts: StoredTexts
  /** Returns the time in a column as milliseconds since 1970. The column belongs to the clock of the store. */
  millis(column: string): string
  /** Returns a duration that can be added to `$now`. `ms` is the SQL of its milliseconds, or of NULL. */
  duration(ms: string): string
  /** The column of reviews with the order in which they opened. */
  readonly reviewOrder: string
  /** Returns the comparison with each row of a query, whose few rows are found first. */
  isAmong(query: string): string
  /** The order number of a thread with the newest submission. */
  readonly newPlace: string
  /** Returns the rows of the threads with a tag, as the tables and conditions of a SELECT. */
  threadsWithTag(tag: WantedTag, add: AddValue): string
}

/** The parts that shared ports need. */
export interface StoreParts {
  readonly dialect: StoreDialect
  /** Executes statements for a request or a run. */
  readonly requests: StatementRunner
  /** Executes lists and searches. */
  readonly searches: StatementRunner
}

/** Returns the list of values of a statement, and the function that adds to it. */
export function collectValues(...first: readonly unknown[]): {
  readonly values: unknown[]
  readonly add: AddValue
} {
  const values = [...first]
  return { values, add: (value) => `$${values.push(value)}` }
}
