/** SQL expressions for the runs that wait for an owner. */
import { CODE_SEPARATOR } from '../../../domain/claim-key.ts'
import { LEVELS } from '../../../domain/priority.ts'

/** The claim key of a row of `runs`; see `domain/claim-key.ts`. */
export const SQLITE_CLAIM_KEY = `ensemble || coalesce(char(${CODE_SEPARATOR.charCodeAt(0)}) || code, '')`

/** The runs that were never claimed and can start; the condition of `runs_by_turn` and `runs_by_fairness_key`. */
export const SQLITE_NEW_AND_READY = `state = 'ready' AND epoch = 0`

/**
 * The runs that wait for an owner of their code; the condition of `runs_by_code`. New runs have no code until they are
 * claimed.
 */
export const SQLITE_WAITS_FOR_CODE = `state IN ('ready', 'parked') AND due_at IS NOT NULL AND code IS NOT NULL`

/** The number of a run's priority; see `LEVELS`. */
export const SQLITE_LEVEL = `(CASE priority WHEN 'high' THEN ${LEVELS.high} WHEN 'low' THEN ${LEVELS.low} ELSE ${LEVELS.normal} END)`

/** The fairness key of a row of `runs`; its actor is a JSON string, its own key the inside of one. */
export const SQLITE_FAIRNESS_KEY = `coalesce(fairness_key, substr(actor, 2, length(actor) - 2), '')`
