/** Stores a new run. In a thread it gets the messages of the earlier runs. */
import { threadBusy } from '../domain/refusals.ts'
import { createQueuedEvent } from '../request/new-run.ts'

import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { CreatedRun, CreateRunOptions, RunStore } from '../ports/run-store.ts'
import type { NewRun } from '../domain/run-record.ts'
import type { RunThreads } from './run-threads.ts'

/** Maximum number of times that a submission reads its thread, because another submission was faster. */
const MAX_THREAD_READS = 5

/** Parts that store a run. */
export interface RunCreationParts {
  readonly runs: Pick<RunStore, 'create'>
  readonly threads: Pick<RunThreads, 'addHistory'>
  readonly settings: Pick<
    ResolvedRunServiceOptions,
    'maxConcurrentRuns' | 'maxQueuedRuns' | 'clock' | 'redact'
  >
}

/** A run as it was stored, or the run of an earlier submission. */
export interface RunCreation {
  readonly stored: NewRun
  readonly created: Exclude<CreatedRun, { kind: 'outdated' }>
}

/** Stores a run. @throws {TuttiError} as `RunStore.create`. */
export async function createInThread(
  run: NewRun,
  limits: Pick<CreateRunOptions, 'quota' | 'claimant' | 'fork' | 'refusal'>,
  { runs, threads, settings }: RunCreationParts,
): Promise<RunCreation> {
  const { maxConcurrentRuns, maxQueuedRuns, clock, redact } = settings
  const maxUnfinishedRuns = maxConcurrentRuns + maxQueuedRuns
  for (let tries = 0; tries < MAX_THREAD_READS; tries += 1) {
    const { thread } = run
    const stored = thread === undefined ? run : await threads.addHistory(run, thread)
    const firstEvent = redact(createQueuedEvent(stored, clock))
    const created = await runs.create(stored, { maxUnfinishedRuns, firstEvent, ...limits })
    if (created.kind !== 'outdated') return { stored, created }
  }
  // Other submissions were always faster.
  throw threadBusy(run.thread?.threadId ?? '')
}
