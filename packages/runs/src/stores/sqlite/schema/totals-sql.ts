/** SQL that keeps totals of runs and reviews, for triggers. */

/** A table of totals, its key and the values of a key. */
interface TotalKey {
  readonly table: string
  readonly columns: string
  readonly values: string
}

/** Statements that add 1 to a total. */
export function addOne({ table, columns, values }: TotalKey): string {
  return `INSERT INTO ${table} (${columns}, amount) VALUES (${values}, 1)
      ON CONFLICT (${columns}) DO UPDATE SET amount = amount + 1`
}

/** Statements that subtract 1 from a total. One that reaches 0 is deleted. */
export function subtractOne({ table, columns, values }: TotalKey): string {
  const found = `WHERE (${columns}) = (${values})`
  return `UPDATE ${table} SET amount = amount - 1 ${found};
    DELETE FROM ${table} ${found} AND amount = 0`
}

/** The total of the parked runs that are like a row of `runs`. */
export function parkedLike(row: 'OLD' | 'NEW'): TotalKey {
  return {
    table: 'parked_totals',
    columns: 'ensemble, build, code, status',
    values: `${row}.ensemble, coalesce(${row}.build, ''), coalesce(${row}.code, ''), ${row}.status`,
  }
}

export function unfinishedOf(row: 'OLD' | 'NEW'): TotalKey {
  return { table: 'totals', columns: 'kind, name', values: `'unfinished', ${row}.actor` }
}

export function reviewsLike(row: 'OLD' | 'NEW'): TotalKey {
  return { table: 'totals', columns: 'kind, name', values: `'reviews', ${row}.kind` }
}
