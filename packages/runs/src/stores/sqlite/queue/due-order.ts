/** Parts that all searches for due runs share. */
import { SQLITE_CLAIM_KEY } from '../schema/claim-key-sql.ts'

import type { StoredRow } from '../../shared/column-reader.ts'

/**
 * The key of the run is known, or its ensemble is not and it has been due for long (RUNS-L9, RUNS-Z2): `$2` are the known
 * keys, `$3` is that time in milliseconds.
 */
export const FITS = `AND (${SQLITE_CLAIM_KEY} = ANY($2::text[])
  OR (due_at <= $now - $3 AND NOT (ensemble = ANY($2::text[]))))`

export function idOf(row: StoredRow): number {
  return Number(row['id'])
}

/** Compares rows by the time since which they are due, then by creation. */
export function byDue(one: StoredRow, other: StoredRow): number {
  return Number(one['due_at']) - Number(other['due_at']) || idOf(one) - idOf(other)
}
