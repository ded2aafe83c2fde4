/**
 * Runs one claimed run to its end, or until it is let go.
 *
 * X1 What an earlier owner has done is not done again: the engine goes on from the steps it left.
 * X2 A run whose ensemble is gone, or no longer fits, ends FAILED with the reason; it is never stuck.
 * X3 An owner that lost its claim stops its work and writes nothing more.
 * X4 A run that was asked to end, and cannot go on, is CANCELLED; what was completed stays.
 */
import { isoNow, TuttiError, type Clock, type Logger } from '@tutti/core'
import { addUsage, totalTokens } from '@tutti/ensemble'

import type { DurableJournal } from './group-commit.ts'
import type { ClaimedRun } from './ports/run-store.ts'
import type { Ensemble, RunHandle } from '@tutti/ensemble'

/** What a run is executed with. */
export interface ExecuteRunOptions {
  /** The ensemble of the run, or undefined when it is not registered any more. */
  readonly ensemble: Ensemble | undefined
  readonly journal: DurableJournal
  /** Aborts after the journal was detached, when this process lets go of the run. */
  readonly letGo: AbortSignal
  readonly clock: Clock
  readonly logger: Logger
}

/** A run that is being executed. */
export interface Execution {
  /** What steers it; undefined when it could not be started. */
  readonly handle?: RunHandle
  readonly journal: DurableJournal
  /** Resolves when its last event is durable, or when it was let go. */
  readonly ended: Promise<void>
}

/** Starts to execute a run. */
export function executeRun(claimed: ClaimedRun, options: ExecuteRunOptions): Execution {
  const { journal } = options
  try {
    const handle = startRun(claimed, options)
    const ended = handle.result
      .then(() => journal.flush())
      .catch((error: unknown) => giveUp(claimed, error, options))
    return { handle, journal, ended }
  } catch (error) {
    return { journal, ended: giveUp(claimed, error, options) }
  }
}

function startRun({ run, steps }: ClaimedRun, options: ExecuteRunOptions): RunHandle {
  const { ensemble, journal, letGo, clock, logger } = options
  if (ensemble === undefined) {
    throw new TuttiError('CONFIG_INVALID', `Ensemble "${run.ensemble}" is not registered any more`)
  }
  return ensemble.start(run.inputs, {
    runId: run.runId,
    // The engine takes an abort for a cancel; nothing of it is written, as the journal is detached.
    signal: letGo,
    journal,
    clock,
    logger,
    // Nobody can decide a gate of a durable run: one that needs a review is refused, not waited for.
    decidable: false,
    ...(steps.length === 0 ? {} : { resume: { steps, epoch: run.epoch } }),
  })
}

async function giveUp(
  claimed: ClaimedRun,
  thrown: unknown,
  { journal, clock, logger }: ExecuteRunOptions,
): Promise<void> {
  const { runId } = claimed.run
  const error = TuttiError.from(thrown, 'ENGINE_FAILED')
  if (error.code === 'FENCED' || error.code === 'INTERRUPTED') {
    logger.info('Run was let go', { runId, reason: error.message })
    return
  }
  logger.error('Run could not go on', { runId, error })
  endRun(claimed, { journal, clock, error })
  await journal.flush().catch((lost: unknown) => {
    logger.error('The end of a run could not be kept', { runId, error: lost })
  })
}

/** How a run ends that the engine does not end. */
export interface EndRunOptions {
  readonly journal: DurableJournal
  readonly clock: Clock
  /** Why it cannot go on; absent when it was cancelled. */
  readonly error?: TuttiError
}

/** Writes the end of a run outside the engine: it never began, or it could not go on. */
export function endRun({ run, steps }: ClaimedRun, { journal, clock, error }: EndRunOptions): void {
  const isCancelled = error === undefined || steps.some(({ kind }) => kind === 'cancel_asked')
  const durationMs = clock.now() - (run.startedAt ?? clock.now())
  const done = steps.filter((step) => step.kind === 'task_completed')
  const ended = steps.filter((step) => 'used' in step)
  const used = addUsage(ended.map((step) => step.used))
  const metrics = { totalTokens: totalTokens(used), totalToolCalls: used.toolCallCount }
  journal.emit({
    type: 'ensemble_completed',
    ensembleId: run.runId,
    completedAt: isoNow(clock),
    durationMs,
    exitReason: isCancelled ? 'CANCELLED' : 'ERROR',
    ...metrics,
  })
  journal.emit({
    type: 'run_result',
    runId: run.runId,
    status: isCancelled ? 'CANCELLED' : 'FAILED',
    outputs: done.map((step) => ({
      taskName: step.taskName,
      output: step.output,
      durationMs: step.durationMs,
    })),
    durationMs,
    metrics,
    ...(isCancelled ? {} : { error: error.message, code: error.code }),
  })
}
