/** Cancels runs as a body or a message asks. */
import { cancelUnlessOver, type CancelRequest } from '@tutti/gateway'

import { tagOf } from './list-runs.ts'

import type { CancelRunsBody, RunsCancelled, RunStatus } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/** How often runs are looked for: so often that none is missed, and an end is in sight. */
const MAX_LOOKS = 10

/** Runs that are cancelled at the same time. */
const BATCH = 20

const PAGE = 1_000

/**
 * Cancels every run with a tag that has not ended; resolves with what became of each. Runs that are
 * submitted meanwhile are cancelled as long as it still finds some, at most {@link MAX_LOOKS} times.
 */
export async function cancelRuns(
  runs: RunService,
  { tag, mode, caller }: CancelRunsBody & Pick<CancelRequest, 'caller'>,
): Promise<RunsCancelled> {
  const statuses = new Map<string, RunStatus | undefined>()
  // Pages move while runs end, so what was passed over is looked for again.
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const found = await unfinishedRuns(runs, tag)
    const fresh = found.filter((runId) => !statuses.has(runId))
    if (fresh.length === 0) break
    for (let first = 0; first < fresh.length; first += BATCH) {
      const batch = fresh.slice(first, first + BATCH)
      const ends = batch.map((runId) => cancelUnlessOver(runs, runId, { mode, caller }))
      for (const [index, status] of (await Promise.all(ends)).entries()) {
        statuses.set(batch[index] ?? '', status)
      }
    }
  }
  const told = [...statuses].flatMap(([runId, status]) =>
    status === undefined ? [] : [{ runId, status }],
  )
  return { runs: told, total: told.length }
}

/** The ids of the runs with a tag that have not ended. */
async function unfinishedRuns(runs: RunService, tag: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (;;) {
    const page = await runs.list({
      statuses: ['ACCEPTED', 'RUNNING', 'WAITING_REVIEW', 'CANCELLING'],
      tag: tagOf(tag),
      limit: PAGE,
      offset: ids.length,
    })
    ids.push(...page.runs.map(({ runId }) => runId))
    if (page.runs.length < PAGE) return ids
  }
}
