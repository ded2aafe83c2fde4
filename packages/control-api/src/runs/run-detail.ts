/** Reads a run for routes, messages and webhooks. */
import { isTerminalRunStatus, type RunDetail, type RunEventOf } from '@tutti/protocol'
import { findRecord, findRun, type Caller } from '@tutti/gateway/internal'

import { toRunDetail } from './to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { RunService } from '@tutti/runs'
import type { RunRecord } from '@tutti/runs/adapter'
import type { FoldedRun } from '@tutti/runs/internal'

/**
 * Returns a run with its tasks and its open reviews. Secrets in inputs and tags are stored, because the engine needs
 * them, and are removed here.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when the run does not exist; FORBIDDEN when the caller may not read it.
 */
export async function readRunDetail(
  { runs, redactor }: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  runId: string,
  caller: Caller,
): Promise<RunDetail> {
  const found = await findRun(runs, runId, caller)
  const [openReviews, result, resumableBy] = await Promise.all([
    runs.reviews.open({ runId }),
    readResult(runs, found.run),
    findBuilds(runs, found.run),
  ])
  const detail = toRunDetail(found, openReviews, result)
  return redactor.value(resumableBy === undefined ? detail : { ...detail, resumableBy })
}

/** An ended run, read by a caller who has followed it. */
export interface EndedRunRead {
  readonly runId: string
  readonly caller: Caller
  /** The run, computed from all its events; undefined if not all are known. */
  readonly folded: FoldedRun | undefined
}

/**
 * Returns the same as {@link readRunDetail} for an ended run. Of a run whose events are known, only the row of the run is
 * read. Its open reviews were withdrawn at its end.
 *
 * @throws {TuttiError} as {@link readRunDetail}.
 */
export async function readEndedRun(
  options: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  { runId, caller, folded }: EndedRunRead,
): Promise<RunDetail> {
  if (folded === undefined) return readRunDetail(options, runId, caller)
  const { tasks, result } = folded
  const run = await findRecord(options.runs, runId, caller)
  // The full read also logs what is damaged.
  if (run.unreadable !== undefined) return readRunDetail(options, runId, caller)
  return options.redactor.value(toRunDetail({ run, tasks }, [], result))
}

/** Returns the builds with the code of a run that waits for one; undefined for any other run. */
async function findBuilds(
  runs: RunService,
  { status, ensemble, code }: RunRecord,
): Promise<string[] | undefined> {
  if (status !== 'WAITING_FOR_BUILD') return undefined
  const known = (await runs.builds.list()).filter(
    (build) => build.ensemble === ensemble && build.code === code,
  )
  return known.map(({ build }) => build)
}

/** Returns the last event of a run that has ended; undefined for an unfinished run. */
async function readResult(
  runs: RunService,
  { runId, status, lastSeq }: RunRecord,
): Promise<RunEventOf<'run_result'> | undefined> {
  if (!isTerminalRunStatus(status)) return undefined
  const [last] = await runs.readEvents({ runId, from: lastSeq, limit: 1 })
  return last?.type === 'run_result' ? last : undefined
}
