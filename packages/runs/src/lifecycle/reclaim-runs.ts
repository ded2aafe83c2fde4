/** Continues what an earlier process left unfinished in a store that is not shared. */
import type { RunStorage } from '../ports/run-storage.ts'

/** Selects runs that wait for an owner, or have one. */
const UNFINISHED = { statuses: ['ACCEPTED', 'RUNNING', 'CANCELLING'] } as const

/** Makes the runs of an earlier process ready. Returns the ids of all unfinished runs, the oldest first. */
export async function reclaimRuns({
  queue,
  runs,
}: Pick<RunStorage, 'queue' | 'runs'>): Promise<readonly string[]> {
  await queue.reclaimAll()
  const page = await runs.list({ ...UNFINISHED, limit: Number.MAX_SAFE_INTEGER, offset: 0 })
  return page.runs.map(({ runId }) => runId).toReversed()
}
