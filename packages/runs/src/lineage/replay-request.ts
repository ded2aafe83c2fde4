/**
 * Requests for replays.
 *
 * RUNS-E4 A replay is a new run with the submission and the steps of its parent. It begins at the beginning, and pays
 *    only for the model calls that it makes itself.
 * RUNS-E5 Only a completed run with all of its steps can be replayed.
 */
import { isoNow } from '@tutti/core/internal'

import { parentNotFound, replayRefused, stepsNotRetained } from '../domain/refusals.ts'
import { toForkSubmission, type ForkRequest } from './fork-request.ts'

import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { ForkedLog } from '../ports/run-store.ts'
import type { RunSubmission } from '../request/new-run.ts'
import type { ReplayMode } from '@tutti/protocol/internal'

/** A request for a replay. It has the inputs and overrides of its parent. */
export interface ReplayRequest extends Omit<
  ForkRequest,
  'at' | 'results' | 'directives' | 'allowSideEffects' | 'inputs' | 'taskOverrides'
> {
  /** `frozen` makes no call; `models` calls models live. */
  readonly mode: ReplayMode
}

/** A requested replay, and the run that it replays. */
export interface AskedReplay {
  readonly parentRunId: string
  readonly request: ReplayRequest
}

/** The submission of a replay, and the log that it begins with. */
export interface ReadReplay {
  readonly submission: RunSubmission
  readonly fork: ForkedLog
}

/**
 * Reads the parent of a replay.
 *
 * @throws {TuttiError} RUN_NOT_FOUND; RUN_NOT_REPLAYABLE when it is not a completed run, or is a replay itself;
 * STEPS_NOT_RETAINED; RUN_TOO_LARGE when its steps exceed `maxStoredRunBytes`.
 */
export async function readReplay(
  { runs }: Pick<RunStorage, 'runs'>,
  { clock, maxStoredRunBytes }: Pick<ResolvedRunServiceOptions, 'clock' | 'maxStoredRunBytes'>,
  { parentRunId, request: { mode, ...asked } }: AskedReplay,
): Promise<ReadReplay> {
  const found = await runs.get(parentRunId)
  if (found === undefined) throw parentNotFound(parentRunId)
  if (found.status !== 'COMPLETED') {
    throw replayRefused(parentRunId, `it is ${found.status}; expected COMPLETED`)
  }
  if (found.parent?.replay !== undefined) {
    throw replayRefused(parentRunId, `it is a replay of run ${found.parent.runId}; replay that run`)
  }
  if (found.request?.isErased === true) throw stepsNotRetained(parentRunId)
  const recorded = await runs.steps(parentRunId, { maxBytes: maxStoredRunBytes })
  if (!recorded.some(({ kind }) => kind === 'run_begun')) throw stepsNotRetained(parentRunId)
  const parent = { runId: parentRunId, at: 0, replay: mode }
  const forkedAt = isoNow(clock)
  const startedAt = Date.parse(forkedAt)
  return {
    submission: {
      ...toForkSubmission(found, { ...asked, at: 0 }),
      fork: { parentRunId, at: 0, replay: mode },
    },
    fork: {
      parent,
      changes: [],
      copiedSteps: 0,
      reviewIds: new Map(),
      events: [{ type: 'run_forked', forkedAt, parentRunId, at: 0, replay: mode }],
      steps: [...recorded, { kind: 'run_forked', runMs: 0, startedAt }],
    },
  }
}
