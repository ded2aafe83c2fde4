/** Cancels the runs of a tag. */
import { type Caller, cancelUnlessOver } from '@tutti/gateway/internal'
import type { RunStatus } from '@tutti/protocol'
import {
  UNFINISHED_RUN_STATUSES,
  type CancelRunsBody,
  type RunsCancelled,
} from '@tutti/protocol/internal'

import { parseTag } from '../runs/list-runs.ts'

import type { RunService } from '@tutti/runs'

/** Maximum number of passes over the runs of a tag; bounded so that the loop terminates. */
const MAX_PASSES = 10

/** Number of runs cancelled at the same time. */
const BATCH = 20

/** Page size of the list of runs. */
const PAGE = 1_000

/**
 * Cancels all unfinished runs with a tag and returns the status of each. Runs submitted meanwhile are cancelled too,
 * in at most {@link MAX_PASSES} passes.
 */
export async function cancelTaggedRuns(
  runs: RunService,
  { tag, mode }: CancelRunsBody,
  caller: Caller,
): Promise<RunsCancelled> {
  const statuses = new Map<string, RunStatus | undefined>()
  // Pages shift while runs end, so the list is read again to find skipped runs.
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const found = await unfinishedRuns(runs, tag)
    const fresh = found.filter((runId) => !statuses.has(runId))
    if (fresh.length === 0) break
    for (let first = 0; first < fresh.length; first += BATCH) {
      const batch = fresh.slice(first, first + BATCH)
      const ends = batch.map((runId) =>
        cancelUnlessOver(runs, runId, { mode, cause: 'CALLER', caller }),
      )
      for (const [index, status] of (await Promise.all(ends)).entries()) {
        statuses.set(batch[index] ?? '', status)
      }
    }
  }
  const cancelled = [...statuses].flatMap(([runId, status]) =>
    status === undefined ? [] : [{ runId, status }],
  )
  return { runs: cancelled, total: cancelled.length }
}

/** Returns the ids of the unfinished runs with a tag. */
async function unfinishedRuns(runs: RunService, tag: string): Promise<readonly string[]> {
  const ids: string[] = []
  let before: number | undefined
  for (;;) {
    const page = await runs.list({
      statuses: UNFINISHED_RUN_STATUSES,
      tag: parseTag(tag),
      limit: PAGE,
      before,
    })
    ids.push(...page.runs.map(({ runId }) => runId))
    if (page.runs.length < PAGE) return ids
    before = page.runs.at(-1)?.place
  }
}
