/**
 * The key of an event or a step: the row id of its run and its number in the run, as one integer. SQLite appends to a
 * table with such a key at the end of its last page, and stores rows of up to 4 KB without further pages.
 */

/** Number of bits of the number in the run. */
const NUMBER_BITS = 32

const LAST_NUMBER = 2 ** NUMBER_BITS - 1

/** Returns the SQL of the number of a row in its run, from that of its key. */
export function numberSql(key = 'key'): string {
  return `(${key} & ${LAST_NUMBER})`
}

/** Returns the SQL of a row's key, from the SQL of the run's row id and the row's number. */
export function keySql(run: string, number: string): string {
  return `(${run} << ${NUMBER_BITS} | min(${number}, ${LAST_NUMBER}))`
}

/** Returns the SQL of the condition of all rows of a run, from a number on. */
export function ofRun(run: string, from = '0'): string {
  return `key BETWEEN ${keySql(run, from)} AND ${keySql(run, String(LAST_NUMBER))}`
}
