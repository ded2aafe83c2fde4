/** Looks at one run as a route or a message asks. */
import { isTerminalRunStatus, type RunDetail, type RunEventOf } from '@tutti/protocol'
import { findRun } from '@tutti/gateway'

import { toRunDetail } from './to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { RunRecord, RunService } from '@tutti/runs'

/**
 * Returns a run with its tasks and with the reviews that wait for a decision, without secrets: those of inputs and tags
 * are stored, since the engine needs them, and are removed here.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when there is none.
 */
export async function readRunDetail(
  { runs, redactor }: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  runId: string,
): Promise<RunDetail> {
  const found = await findRun(runs, runId)
  const [openReviews, result] = await Promise.all([
    runs.openReviews({ runId }),
    readResult(runs, found.run),
  ])
  return redactor.value(toRunDetail(found, openReviews, result))
}

/** The last event of a run that has ended. */
async function readResult(
  runs: RunService,
  { runId, status, lastSeq }: RunRecord,
): Promise<RunEventOf<'run_result'> | undefined> {
  if (!isTerminalRunStatus(status)) return undefined
  const [last] = await runs.readEvents({ runId, from: lastSeq, limit: 1 })
  return last?.type === 'run_result' ? last : undefined
}
