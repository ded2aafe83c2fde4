/** Deletes ended runs, threads without runs, and steps of ended runs that are older than their retention. */
import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { RunStorage } from '../ports/run-storage.ts'

/** Interval of the deletion of ended runs and of checks for missed notifications, in milliseconds. */
export const HOUSEKEEPING_MS = 60_000

/** Number of runs deleted at a time; small enough not to block other work. */
const DELETE_BATCH = 100

/** Number of steps deleted at a time. */
const STEP_BATCH = 10_000

/** Limits of what is retained. */
type RetentionSettings = Pick<
  ResolvedRunServiceOptions,
  'maxRetainedRuns' | 'maxRetainedAgeMs' | 'maxRetainedStepsMs'
>

/** Deletes everything that is older than its retention, in chunks. */
export async function deleteOldRuns(
  { runs, threads }: Pick<RunStorage, 'runs' | 'threads'>,
  settings: RetentionSettings,
): Promise<void> {
  const { maxRetainedRuns: keep, maxRetainedAgeMs, maxRetainedStepsMs } = settings
  if (keep !== Infinity || maxRetainedAgeMs !== Infinity) {
    const age = maxRetainedAgeMs === Infinity ? {} : { maxAgeMs: maxRetainedAgeMs }
    const which = { keep, ...age, limit: DELETE_BATCH }
    await deleteAll(() => runs.deleteEnded(which))
    await deleteAll(() => threads.deleteEmpty(which))
  }
  if (maxRetainedStepsMs === Infinity) return
  const old = { maxAgeMs: maxRetainedStepsMs, limit: STEP_BATCH }
  for (let hasMore = true; hasMore;) hasMore = await runs.deleteSteps(old)
}

async function deleteAll(deleteSome: () => Promise<readonly string[]>): Promise<void> {
  for (;;) {
    const deleted = await deleteSome()
    if (deleted.length < DELETE_BATCH) return
  }
}
