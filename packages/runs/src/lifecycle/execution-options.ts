/** The parts of a service that the execution of one claimed run uses. */
import { toClaimKey } from '../domain/claim-key.ts'
import { applyCaptureMode, redactedJournal } from '../commit/redacted-journal.ts'
import { reportActivity } from '../settings/activity.ts'

import type { RunRecord } from '../domain/run-record.ts'
import type { ClaimedRun } from '../ports/run-queue.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { ExecutionOptions } from './execution.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import type { RunEnsembles } from '../request/run-ensembles.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'

/** The parts of a run service that executions use. */
export interface ExecutionParts {
  readonly storage: RunStorage
  readonly commits: GroupCommit
  readonly ensembles: RunEnsembles
  readonly settings: ResolvedRunServiceOptions
}

/** A claimed run, and the callback of its executor for a slot that it frees. */
export interface ClaimedExecution {
  readonly claim: ClaimedRun
  readonly onSlotFreed: () => void
}

/** Returns the options of an execution. */
export function toExecutionOptions(
  { storage, commits, ensembles, settings }: ExecutionParts,
  { claim: { run, token }, onSlotFreed }: ClaimedExecution,
): ExecutionOptions {
  const { runId, epoch, lastSeq, request } = run
  // Every write to an unowned run has an event, so the first owner of a run without one finds no steps.
  const isNew = epoch === 1 && lastSeq === 0
  const { models, prices, redact, parkAfterMs, maxLostOwners, clock, logger } = settings
  const { profiles, toolMetrics, callbackUrl, maxEventBytes, maxStoredRunBytes } = settings
  const { maxInputBytes, maxTextBytes, maxRunTextBytes } = settings
  return {
    ensemble: () => ensembles.build(run),
    queue: toQueue(storage, run),
    steps: () =>
      isNew ? Promise.resolve([]) : storage.runs.steps(runId, { maxBytes: maxStoredRunBytes }),
    tasks: () => storage.runs.tasks(runId),
    journal: (callbacks) =>
      redactedJournal(
        commits.journal({ runId, token, ...callbacks }),
        applyCaptureMode(request?.options?.captureMode, redact),
      ),
    models,
    profiles,
    prices,
    maxEventBytes,
    maxStoredRunBytes,
    textLimits: { maxInputBytes, maxTextBytes, maxRunTextBytes },
    memories: storage.memories,
    reflections: storage.reflections,
    toolMetrics,
    callbackUrl,
    onRateLimitWait: (waitedMs) => {
      reportActivity(settings, { kind: 'rate_limited', runId, waitedMs })
    },
    onSlotFreed,
    parkAfterMs,
    maxLostOwners,
    clock,
    logger,
  }
}

/** The queue for one run; it also reports to the dispatcher. */
function toQueue({ queue, dispatcher }: RunStorage, run: RunRecord): ExecutionOptions['queue'] {
  return {
    async markWaiting(held, waitsFor) {
      const isOwned = await queue.markWaiting(held, waitsFor)
      if (waitsFor !== 'nothing') dispatcher.return(held.runId)
      return isOwned
    },
    async release(held, how) {
      const released = await queue.release(held, how)
      if (released === 'parked' && how.kind === 'parked' && how.wakeInMs !== undefined) {
        const { runId, epoch } = run
        dispatcher.wakeAt({ runId, epoch, claimKey: toClaimKey(run) }, how.wakeInMs)
      }
      return released
    },
  }
}
