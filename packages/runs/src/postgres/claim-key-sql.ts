/** SQL expressions for the runs that wait for an owner. */
import { CODE_SEPARATOR } from '../claim-key.ts'

/** {@link CODE_SEPARATOR} as a literal. */
export const SEPARATOR = `E'\\x${CODE_SEPARATOR.charCodeAt(0).toString(16)}'`

/** The claim key of a row of `runs`; see `../claim-key.ts`. The index `runs_claimable` has the same expression. */
export const CLAIM_KEY = `(ensemble || coalesce(${SEPARATOR} || code, ''))`

/**
 * The state of a run, for conditions on runs that are found by their id or owner. A plan that was made while few runs had a
 * state prefers the index of that state, and keeps doing so when there are many. This expression is in no index.
 */
export const STATE_OF_FOUND = `(state || '')`

/** The runs that wait for an owner; the condition of the index `runs_claimable`. */
export const UNOWNED = `state IN ('ready', 'parked') AND due_at IS NOT NULL`
