/** Cancels runs as a body or a message asks. */
import { TuttiError } from '@tutti/core'

import { actorOf, type Caller } from './caller.ts'
import { tagOf } from './list-runs.ts'

import type { CancelBody, CancelRunsBody, RunsCancelled, RunStatus } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/** How a cancel takes effect, and who asks for it. */
export interface CancelWish {
  readonly mode: CancelBody['mode']
  readonly caller: Caller
}

/** How often runs are looked for: so often that none is missed, and an end is in sight. */
const MAX_LOOKS = 10

/** Runs that are cancelled at the same time. */
const BATCH = 20

const PAGE = 1_000

/**
 * Cancels a run; resolves with the status it has then.
 *
 * @throws {TuttiError} as `RunService.cancel`.
 */
export function cancelRun(
  runs: RunService,
  runId: string,
  { mode, caller }: CancelWish,
): ReturnType<RunService['cancel']> {
  return runs.cancel(runId, { ...actorOf(caller), ...(mode === undefined ? {} : { mode }) })
}

/**
 * Cancels every run with a tag that has not ended; resolves with what became of each. Runs that are
 * submitted meanwhile are cancelled as long as it still finds some, at most {@link MAX_LOOKS} times.
 */
export async function cancelRuns(
  runs: RunService,
  { tag, mode, caller }: CancelRunsBody & Pick<CancelWish, 'caller'>,
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

/** The status after the cancel; undefined for a run that was over already, or is gone. */
export async function cancelUnlessOver(
  runs: RunService,
  runId: string,
  wish: CancelWish,
): Promise<RunStatus | undefined> {
  try {
    return await cancelRun(runs, runId, wish)
  } catch (error) {
    const isOver =
      TuttiError.isInstance(error) && ['RUN_COMPLETED', 'RUN_NOT_FOUND'].includes(error.code)
    if (!isOver) throw error
    return undefined
  }
}
