/** SQL expressions for the runs that wait for an owner. */
import { CODE_SEPARATOR } from '../../../domain/claim-key.ts'
import { SUSPECT_LOSSES } from '../../../domain/suspects.ts'

/** {@link CODE_SEPARATOR} as a literal. */
export const SEPARATOR = `E'\\x${CODE_SEPARATOR.charCodeAt(0).toString(16)}'`

/** The claim key of a row of `runs`; see `domain/claim-key.ts`. The index `runs_by_turn` has the same expression. */
export const CLAIM_KEY = `(ensemble || coalesce(${SEPARATOR} || code, ''))`

/**
 * The state of a run, for conditions on runs that are found by their id or owner. A plan that was made while few runs had a
 * state prefers the index of that state, and keeps doing so when there are many. This expression is in no index.
 */
export const STATE_OF_FOUND = `(state || '')`

/** The runs that wait for an owner; the condition of the index `runs_by_turn`. */
export const UNOWNED = `state IN ('ready', 'parked') AND due_at IS NOT NULL`

/**
 * The class of a run that waits for an owner: 2 for a suspect, 1 for a run that was claimed before, 0 for others (RUNS-L4).
 * The index `runs_by_turn` has the same expression.
 */
export const CLAIM_CLASS = `(CASE WHEN lost_owners >= ${SUSPECT_LOSSES} THEN 2 WHEN epoch > 0 THEN 1 ELSE 0 END)`

/** The held runs; the condition of the index `runs_waiting_for_build`. */
export const HELD = `status = 'WAITING_FOR_BUILD'`

/** Returns the recursive query `found`: the claim keys of all runs that wait, one probe of the index for each. */
export function foundKeysSql(schema: string): string {
  return `found AS (
      (SELECT ${CLAIM_KEY} AS key FROM ${schema}.runs WHERE ${UNOWNED} ORDER BY ${CLAIM_KEY} LIMIT 1)
      UNION ALL
      SELECT (SELECT ${CLAIM_KEY} FROM ${schema}.runs
          WHERE ${UNOWNED} AND ${CLAIM_KEY} > found.key ORDER BY ${CLAIM_KEY} LIMIT 1)
        FROM found WHERE key IS NOT NULL
    )`
}

/** Returns the condition of a row of `found` whose runs are stranded if they are due (RUNS-Z3), given the known keys. */
export function isStrandedSql(schema: string, known: string): string {
  return `key <> ALL (${known}::text[]) AND split_part(key, ${SEPARATOR}, 1) = ANY (${known}::text[])
    AND NOT EXISTS (
      SELECT FROM ${schema}.leases WHERE expires_at > statement_timestamp()
        AND (ensembles IS NULL OR key = ANY (ensembles)))`
}
