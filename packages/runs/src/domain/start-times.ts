/** Pure: the times before which, and by which, a run starts. */
import type { RunRecord } from './run-record.ts'

/** Whether a run that is claimed at that time, by the clock of the store, should have begun before (RUNS-L18). */
export function isExpired(
  { startBy = Infinity, startedAt }: Pick<RunRecord, 'startBy' | 'startedAt'>,
  claimedAt: number,
): boolean {
  return startedAt === undefined && startBy <= claimedAt
}
