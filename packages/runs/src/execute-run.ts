/**
 * Runs one claimed run to its end, or until it is let go.
 *
 * X1 What an earlier owner completed is not run again.
 * X2 A run whose ensemble is gone, or no longer fits, ends FAILED with the reason; it is never stuck.
 * X3 An owner that lost its claim stops its work and writes nothing more.
 */
import { isoNow, TuttiError, type Clock, type Logger } from '@tutti/core'

import type { DurableJournal } from './group-commit.ts'
import type { ClaimedRun } from './ports/run-store.ts'
import type { RunRecord, TaskRecord } from './run-record.ts'
import type { Ensemble, ResumePoint } from '@tutti/ensemble'

/** What a run is executed with. */
export interface ExecuteRunOptions {
  /** The ensemble of the run, or undefined when it is not registered any more. */
  readonly ensemble: Ensemble | undefined
  readonly journal: DurableJournal
  /** Aborts when the run is cancelled or let go. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly logger: Logger
}

/** Executes a run; resolves when its last event is durable, or when it was let go. */
export async function executeRun(claimed: ClaimedRun, options: ExecuteRunOptions): Promise<void> {
  const { run } = claimed
  const { journal, logger } = options
  try {
    await runClaimed(claimed, options)
    await journal.flush()
  } catch (thrown) {
    const error = TuttiError.from(thrown, 'ENGINE_FAILED')
    if (error.code === 'FENCED' || error.code === 'INTERRUPTED') {
      logger.info('Run was let go', { runId: run.runId, reason: error.message })
      return
    }
    logger.error('Run could not go on', { runId: run.runId, error })
    endRun(run, { journal, clock: options.clock, status: 'FAILED', error: error.message })
    await journal.flush().catch((lost: unknown) => {
      logger.error('The end of a run could not be kept', { runId: run.runId, error: lost })
    })
  }
}

async function runClaimed({ run, tasks }: ClaimedRun, options: ExecuteRunOptions): Promise<void> {
  const { ensemble, journal, signal, clock, logger } = options
  if (ensemble === undefined) {
    throw new TuttiError('CONFIG_INVALID', `Ensemble "${run.ensemble}" is not registered any more`)
  }
  const resume = run.startedAt === undefined ? undefined : resumePoint(run.startedAt, tasks, clock)
  if (resume !== undefined) {
    journal.emit({
      type: 'run_resumed',
      resumedAt: isoNow(clock),
      epoch: run.epoch,
      completedTasks: resume.completed.map(({ taskName }) => taskName),
    })
  }
  await ensemble.run(run.inputs, {
    runId: run.runId,
    signal,
    journal,
    clock,
    logger,
    ...(resume === undefined ? {} : { resume }),
  })
}

function resumePoint(startedAt: number, tasks: readonly TaskRecord[], clock: Clock): ResumePoint {
  return {
    completed: tasks
      .filter(({ status }) => status === 'COMPLETED')
      .map((task) => ({
        taskName: task.name,
        attempt: task.attempt,
        output: task.output ?? '',
        inputTokens: task.inputTokens,
        outputTokens: task.outputTokens,
        toolCallCount: task.toolCallCount,
        durationMs: task.durationMs ?? 0,
      })),
    attempts: new Map(tasks.map(({ name, attempt }) => [name, attempt])),
    elapsedMs: clock.now() - startedAt,
  }
}

/** How a run ends that the engine does not end. */
export interface EndRunOptions {
  readonly journal: DurableJournal
  readonly clock: Clock
  readonly status: 'FAILED' | 'CANCELLED'
  readonly error?: string
}

/** Writes the end of a run outside the engine: it never began, or it could not go on. */
export function endRun(run: RunRecord, { journal, clock, status, error }: EndRunOptions): void {
  const durationMs = clock.now() - (run.startedAt ?? clock.now())
  const metrics = { totalTokens: 0, totalToolCalls: 0 }
  journal.emit({
    type: 'ensemble_completed',
    ensembleId: run.runId,
    completedAt: isoNow(clock),
    durationMs,
    exitReason: status === 'FAILED' ? 'ERROR' : 'CANCELLED',
    ...metrics,
  })
  journal.emit({
    type: 'run_result',
    runId: run.runId,
    status,
    outputs: [],
    durationMs,
    metrics,
    ...(error === undefined ? {} : { error }),
  })
}
