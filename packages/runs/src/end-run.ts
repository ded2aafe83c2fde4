/** Writes the end of a run that the engine does not end: it never began, or it cannot go on. */
import { isoNow, type Clock, type TuttiError } from '@tutti/core'
import { addUsage, totalTokens } from '@tutti/ensemble'

import type { DurableJournal } from './group-commit.ts'
import type { ClaimedRun } from './ports/run-queue.ts'

/** How a run ends. */
export interface EndRunOptions {
  readonly journal: DurableJournal
  readonly clock: Clock
  /** Why it cannot go on. A run that was asked to end is CANCELLED all the same. */
  readonly error: TuttiError
}

/** Writes the end of a claimed run; what was completed stays. */
export function endRun(
  { run, steps }: Pick<ClaimedRun, 'run' | 'steps'>,
  { journal, clock, error }: EndRunOptions,
): void {
  const isCancelled = steps.some(({ kind }) => kind === 'cancel_asked')
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
