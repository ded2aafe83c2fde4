/** Pure: describes the cause of a cancel for people. */
import type { CancelCause } from '../schemas/enums.ts'

/** Cause of a cancel, and the name of the key of its caller. */
interface CancelOrigin {
  readonly cause: CancelCause
  readonly actor?: string
}

const CAUSES: Readonly<Record<CancelCause, string>> = {
  CALLER: 'requested',
  CLIENT_LEFT: 'the client left',
  DEADLINE: 'the deadline of the caller passed',
  LIMIT: 'the cost or token limit of the caller was exceeded',
  SERVER: 'by the server',
}

/** Returns the cause as text that fits after "Cancel:", such as `requested by ci` or `the client left (key ci)`. */
export function formatCancelOrigin({ cause, actor }: CancelOrigin): string {
  if (actor === undefined) return CAUSES[cause]
  return cause === 'CALLER' ? `requested by ${actor}` : `${CAUSES[cause]} (key ${actor})`
}
