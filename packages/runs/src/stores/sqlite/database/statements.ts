/** Executes statements of `shared/schema/dialect.ts` on an open database. */
import type { StoredRow } from '../../shared/column-reader.ts'
import type { Statement, StatementRunner } from '../../shared/schema/dialect.ts'
import type { Transaction } from './transaction.ts'
import type { Clock } from '@tutti/core'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

interface Prepared {
  readonly statement: StatementSync
  readonly readsClock: boolean
}

/** Runs statements. Each text is translated and prepared once; texts contain no values, so there are only dozens. */
export class SqliteStatements implements StatementRunner {
  readonly #database: DatabaseSync
  readonly #clock: Pick<Clock, 'now'>
  readonly #transaction: Transaction
  readonly #prepared = new Map<string, Prepared>()
  readonly #bindsByPosition: boolean

  constructor(database: DatabaseSync, clock: Pick<Clock, 'now'>, transaction: Transaction) {
    this.#database = database
    this.#bindsByPosition = bindsByPosition(database)
    this.#clock = clock
    this.#transaction = transaction
  }

  /** Executes a statement at once, within the transaction that is open, if one is. */
  run(sql: string, values: readonly unknown[] = []): readonly StoredRow[] {
    const { statement, given } = this.#bind(sql, values)
    return statement.all(...given)
  }

  /** Executes a statement at once, and returns the number of rows that it changed. */
  count(sql: string, values: readonly unknown[]): number {
    const { statement, given } = this.#bind(sql, values)
    return Number(statement.run(...given).changes)
  }

  /** Executes a statement whose rows are read one by one. It must not be executed again meanwhile. */
  iterate(sql: string, values: readonly unknown[]): Iterable<StoredRow> {
    const { statement, given } = this.#bind(sql, values)
    return statement.iterate(...given)
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<readonly StoredRow[]> {
    return this.run(sql, values)
  }

  async change(sql: string, values: readonly unknown[]): Promise<readonly StoredRow[]> {
    return this.run(sql, values)
  }

  async changeAll(statements: readonly Statement[]): Promise<void> {
    this.#transaction(() => {
      for (const [sql, ...values] of statements) this.run(sql, values)
    })
  }

  #bind(sql: string, values: readonly unknown[]) {
    const { statement, readsClock } = this.#prepared.get(sql) ?? this.#prepare(sql, values.length)
    const given = values.map(toInput)
    if (readsClock) given.push(Math.ceil(this.#clock.now()))
    return { statement, given: this.#bindsByPosition ? given : toNumbered(given) }
  }

  /** The present is the parameter after the values. */
  #prepare(sql: string, count: number): Prepared {
    const statement = this.#database.prepare(toSqlite(sql.replaceAll('$now', `$${count + 1}`)))
    // A number that JavaScript cannot represent would otherwise make the read of all rows fail.
    statement.setReadBigInts(true)
    // A statement need not use all of its values.
    if (!this.#bindsByPosition) statement.setAllowUnknownNamedParameters(true)
    const prepared = { statement, readsClock: sql.includes('$now') }
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

/**
 * Returns whether this Node binds values by position to numbered parameters such as `?1`. Node 22.18 counts these as named
 * ones: there, values are bound by number.
 */
function bindsByPosition(database: DatabaseSync): boolean {
  try {
    return database.prepare('SELECT ?1').get(1) !== undefined
  } catch {
    return false
  }
}

/** Returns the values as one object with the numbers of their parameters. */
function toNumbered(values: readonly SQLInputValue[]): SQLInputValue[] {
  const numbered: unknown = Object.fromEntries(values.map((value, index) => [index + 1, value]))
  // NOTE: a cast, because the types of Node accept the object only where no values can follow it.
  return [numbered as SQLInputValue]
}

/** Translates a statement to the SQL of SQLite. */
export function toSqlite(sql: string): string {
  return sql
    .replaceAll('$schema.', '')
    .replaceAll(/= ANY\((\$\d+)::text\[\]\)/g, 'IN (SELECT value FROM json_each($1))')
    .replaceAll('least(', 'min(')
    .replaceAll('greatest(', 'max(')
    .replaceAll(/::\w+(\[\])?/g, '')
    .replaceAll(/\$(\d+)/g, '?$1')
}

/** Converts a value of a statement: an array is one parameter, and flags are integers. */
function toInput(value: unknown): SQLInputValue {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return Number(value)
  if (Array.isArray(value)) return JSON.stringify(value)
  // NOTE: a cast at the boundary: the shared code passes only texts and numbers in addition.
  return value as SQLInputValue
}
