/** SQL expressions for the runs that wait for an owner. */
import { CODE_SEPARATOR } from '../claim-key.ts'

/** {@link CODE_SEPARATOR} as a literal. */
export const SEPARATOR = `E'\\x${CODE_SEPARATOR.charCodeAt(0).toString(16)}'`

/** The claim key of a row of `runs`; see `../claim-key.ts`. The index `runs_claimable` has the same expression. */
export const CLAIM_KEY = `(ensemble || coalesce(${SEPARATOR} || code, ''))`

/** The runs that wait for an owner; the condition of the index `runs_claimable`. */
export const UNOWNED = `state IN ('ready', 'parked') AND due_at IS NOT NULL`
