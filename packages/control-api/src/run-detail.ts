/** Looks at one run as a route or a message asks. */
import { findRun } from './find-run.ts'
import { toRunDetail } from './to-wire.ts'

import type { RunDetail } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/**
 * A run with its tasks, and with the reviews that wait for a decision.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when there is none.
 */
export async function runDetail(runs: RunService, runId: string): Promise<RunDetail> {
  const found = await findRun(runs, runId)
  return toRunDetail(found, await runs.openReviews({ runId }))
}
