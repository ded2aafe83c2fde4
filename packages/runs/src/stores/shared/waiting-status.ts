/**
 * SQL of the status of a run that begins to wait, and of one that continues. `review_since` is set while a caller can decide
 * one of its reviews.
 */
import { WAITING_RUN_STATUSES } from '@tutti/protocol/basics'

import type { RunStatus } from '@tutti/protocol'

/** Status of a run whose tasks all wait (RUNS-L11). */
export const WAITING_STATUS = `CASE WHEN status = 'CANCELLING' THEN status
  WHEN review_since IS NULL THEN 'WAITING' ELSE 'WAITING_REVIEW' END`

/** Status of a run that no longer waits. */
export const CONTINUING_STATUS = toRunning(WAITING_RUN_STATUSES)

/** Status of a run after its claim. */
export const CLAIMED_STATUS = toRunning([...WAITING_RUN_STATUSES, 'WAITING_FOR_BUILD'])

function toRunning(statuses: readonly RunStatus[]): string {
  const listed = statuses.map((status) => `'${status}'`).join(', ')
  return `CASE WHEN status IN (${listed}) THEN 'RUNNING' ELSE status END`
}
