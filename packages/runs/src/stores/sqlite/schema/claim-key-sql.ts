import { CODE_SEPARATOR } from '../../../domain/claim-key.ts'

/** The claim key of a row of `runs`; see `domain/claim-key.ts`. */
export const SQLITE_CLAIM_KEY = `ensemble || coalesce(char(${CODE_SEPARATOR.charCodeAt(0)}) || code, '')`
