/** Chooses the code of a new run, stores the run, and starts to execute it. */
import { TuttiError } from '@tutti/core'

import { toClaimKey } from '../domain/claim-key.ts'
import { field } from '../domain/field.ts'
import { listNestedEnsembles } from '../domain/nested-ensembles.ts'
import { reportActivity } from '../settings/activity.ts'
import { createInThread } from '../threads/create-in-thread.ts'

import type { DueLoop } from '../lifecycle/due-loop.ts'
import type { RunEventFeed } from '../feed/event-feed.ts'
import type { Quota } from '../domain/quota.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { CreateRunOptions } from '../ports/run-store.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { NewRun, RunRecord } from '../domain/run-record.ts'
import type { RunThreads } from '../threads/run-threads.ts'
import type { LivingBuilds } from '../lineage/living-builds.ts'
import type { RunSubmission } from '../request/new-run.ts'
import type { RunExecutor } from '../lifecycle/run-executor.ts'

/** Parts of a run service that accept runs. */
export interface AcceptingParts {
  readonly storage: RunStorage
  readonly threads: RunThreads
  readonly living: LivingBuilds
  readonly executor: RunExecutor
  /** Ends runs that do not begin in time. */
  readonly expiry: Pick<DueLoop, 'wakeIn'>
  readonly feed: RunEventFeed
  readonly settings: ResolvedRunServiceOptions
}

/** Whether a store counts the runs of an actor for its quota. */
function hasCounts({ maxUnfinishedRuns, spend }: Quota): boolean {
  return maxUnfinishedRuns !== undefined || spend !== undefined
}

/** A run to accept. */
export interface AcceptedRequest {
  readonly run: NewRun
  readonly request: Pick<RunSubmission, 'quota' | 'build'>
  readonly fork?: CreateRunOptions['fork']
}

/** An accepted run; `isNew` is false for the run of an earlier submission. */
export interface AcceptedRun {
  readonly run: RunRecord
  readonly isNew: boolean
}

/**
 * Accepts a run. A submission for a build without living processes may repeat an earlier one.
 *
 * @throws {TuttiError} as `RunStore.create`; BAD_REQUEST if the named build does not live or lacks the ensemble.
 */
export async function acceptRun(
  { storage, threads, living, executor, expiry, feed, settings }: AcceptingParts,
  { run, request: { quota, build }, fork }: AcceptedRequest,
): Promise<AcceptedRun> {
  const found = await (build === undefined ? living.choose(run) : living.find(run, build))
  const isNested = listNestedEnsembles(run.request).length > 0
  // Without living builds, the first process that takes the run decides, which may lack the ensembles of its tasks.
  const own = isNested ? executor.wholeCodeOf(run.ensemble) : undefined
  const [code, refusal] = found instanceof TuttiError ? [undefined, found] : [found ?? own]
  const slot = executor.reserveSlot()
  try {
    const { stored, created } = await createInThread(
      { ...run, ...field('code', code) },
      {
        ...field('quota', quota && hasCounts(quota) ? quota : undefined),
        ...field('fork', fork),
        ...field('claimant', slot?.claimant),
        ...field('refusal', refusal),
      },
      { runs: storage.runs, threads, settings },
    )
    if (created.kind === 'repeated') return { run: created.run, isNew: false }
    const { submission: _, thread, code: chosen, ...rest } = stored
    const accepted = { ...rest, ...field('threadId', thread?.threadId) }
    reportActivity(settings, { kind: 'accepted', run: accepted })
    feed.offer(run.runId, [created.event])
    const { startAt, startBy, createdAt, ensemble } = accepted
    if (startBy !== undefined) expiry.wakeIn(startBy - createdAt)
    if (startAt !== undefined) {
      const claimKey = toClaimKey({ ensemble, ...field('code', chosen?.code) })
      storage.dispatcher.wakeAt({ runId: run.runId, epoch: 0, claimKey }, startAt - createdAt)
    }
    if (created.claim === undefined) executor.wake()
    else slot?.execute(created.claim)
    return {
      run: {
        ...accepted,
        ...field('build', chosen?.build),
        ...field('code', chosen?.code),
        status: 'ACCEPTED',
        completedTasks: 0,
        epoch: 0,
        lastSeq: 0,
      },
      isNew: true,
    }
  } finally {
    slot?.release()
  }
}
