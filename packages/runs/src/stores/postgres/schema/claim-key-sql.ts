/** SQL expressions for the runs that wait for an owner. */
import { CODE_SEPARATOR } from '../../../domain/claim-key.ts'
import { LEVELS } from '../../../domain/priority.ts'
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

/** The runs that were never claimed and can start; the condition of the index `runs_by_fairness_key`. */
export const NEW_AND_READY = `state = 'ready' AND epoch = 0`

/** The number of a run's priority; see `LEVELS`. */
export const LEVEL = `(CASE priority WHEN 'high' THEN ${LEVELS.high} WHEN 'low' THEN ${LEVELS.low} ELSE ${LEVELS.normal} END)`

/** The class of new runs with the lowest priority. */
export const FIRST_NEW_CLASS = 3

/** The fairness key of a row of `runs`, or of a new run; the index `runs_by_fairness_key` has the same expression. */
export const FAIRNESS_KEY = `coalesce(fairness_key, actor_index, '')`

/**
 * The class of a run that waits for an owner: 7 for a suspect, 6 for a run that was claimed before, 3 + {@link LEVEL} for a
 * new one, {@link LEVEL} for a delayed one. The index `runs_by_turn` has the same expression. In each class, the runs are
 * in the order of `turn`, which only new runs have, and then of `due_at`.
 */
export const CLAIM_CLASS = `(CASE WHEN lost_owners >= ${SUSPECT_LOSSES} THEN 7 WHEN epoch > 0 THEN 6
  WHEN state = 'ready' THEN ${FIRST_NEW_CLASS} + ${LEVEL} ELSE ${LEVEL} END)`

/** The greatest value of `turn`. */
export const MAX_TURN = '9223372036854775807'

/**
 * The classes as a table: `class`, its `step` in the order of claims (RUNS-L4), if `begunFirst` is true, and the greatest
 * `turn` in it. Among classes of one step, the run that is due the longest comes first.
 */
export function classesSql(begunFirst: string): string {
  return `(VALUES (7, 4, 0), (6, CASE WHEN ${begunFirst} THEN 3 ELSE -1 END, 0), (5, 2, ${MAX_TURN}),
    (4, 1, ${MAX_TURN}), (3, 0, ${MAX_TURN}), (2, 2, 0), (1, 1, 0), (0, 0, 0)) AS classes (class, step, max_turn)`
}

/** Returns the condition that a run with a claim key is due, apart from suspects unless they are included. */
export function hasDueSql(
  schema: string,
  key: string,
  { suspects }: { suspects: boolean },
): string {
  return `EXISTS (
    SELECT FROM ${classesSql('true')} WHERE ${suspects ? '' : 'class < 7 AND '}EXISTS (
      SELECT FROM ${schema}.runs WHERE ${UNOWNED} AND ${CLAIM_KEY} = ${key} AND ${CLAIM_CLASS} = class
        AND (turn, due_at) <= (max_turn, statement_timestamp())))`
}

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
