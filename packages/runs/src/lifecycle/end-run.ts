/** Writes the end of a run that the engine cannot end, because it never started or cannot continue. */
import type { Clock, TuttiError } from '@tutti/core'
import { isoNow } from '@tutti/core/internal'
import { addUsage } from '@tutti/ensemble/internal'
import { totalTokens } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'

import type { DurableJournal } from '../commit/group-commit.ts'
import type { RunRecord, TaskRecord } from '../domain/run-record.ts'
import type { RunStep } from '@tutti/ensemble/internal'
import type { RunEvent } from '@tutti/protocol'

export interface EndRunOptions {
  readonly journal: DurableJournal
  readonly clock: Clock
  /** The reason why it cannot continue. A run with a pending cancel ends CANCELLED regardless. */
  readonly error: TuttiError
  /** The stored tasks of the run. Unfinished tasks end with it. */
  readonly tasks: readonly TaskRecord[]
}

/** A run that ends, and its steps; absent when they were not read or cannot be read. */
export interface EndingRun {
  readonly run: RunRecord
  readonly steps?: readonly RunStep[] | undefined
}

/** Writes the end of a claimed run. Completed tasks are retained. */
export function endRun(
  { run, steps: known }: EndingRun,
  { journal, clock, error, tasks }: EndRunOptions,
): void {
  const steps = known ?? []
  const cancel = steps.findLast((step) => step.kind === 'cancel_asked')
  const isCancelled = run.status === 'CANCELLING' || cancel !== undefined
  const why = {
    code: isCancelled ? 'CANCELLED' : error.code,
    reason: isCancelled ? 'The run was cancelled' : error.message,
    now: clock.now(),
  }
  for (const task of tasks) {
    const event = toTaskEnd(task, steps, why)
    if (event !== undefined) journal.emit(event)
  }
  // The clock may have been set back since.
  const durationMs = Math.max(0, clock.now() - (run.startedAt ?? clock.now()))
  const outputs =
    known === undefined
      ? tasks.flatMap(toOutputs)
      : steps.flatMap((step) =>
          step.kind === 'task_completed'
            ? [{ taskName: step.taskName, output: step.output, durationMs: step.durationMs }]
            : [],
        )
  const ended = steps.filter((step) => 'used' in step)
  const used = addUsage(known === undefined ? tasks : ended.map((step) => step.used))
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
    outputs,
    durationMs,
    metrics,
    ...(isCancelled ? {} : { error: error.message, code: error.code }),
    ...(cancel === undefined
      ? {}
      : { cancel: { cause: cancel.cause, ...field('actor', cancel.actor) } }),
  })
}

/** Returns the stored output of a completed task, otherwise an empty list. */
function toOutputs({ status, name: taskName, output, durationMs = 0 }: TaskRecord) {
  return status === 'COMPLETED' && output !== undefined ? [{ taskName, output, durationMs }] : []
}

interface WhyEnded {
  readonly code: string
  readonly reason: string
  readonly now: number
}

/** Returns the event that ends an unfinished task; undefined for a task that has ended. */
function toTaskEnd(
  task: TaskRecord,
  steps: readonly RunStep[],
  { code, reason, now }: WhyEnded,
): RunEvent | undefined {
  const { taskIndex, name: taskName, description: taskDescription, agentRole } = task
  const at = new Date(now).toISOString()
  if (task.status === 'PENDING') {
    return { type: 'task_skipped', taskIndex, taskName, taskDescription, skippedAt: at, reason }
  }
  if (task.status !== 'RUNNING') return undefined
  return {
    type: 'task_failed',
    taskIndex,
    taskDescription,
    agentRole,
    failedAt: at,
    reason,
    taskName,
    attempt: task.attempt,
    durationMs: Math.max(0, now - (task.startedAt ?? now)),
    code,
    ...countAttemptUsage(task, steps),
    willRetry: false,
  }
}

/** Returns the usage of the current attempt: that of the task minus that of earlier attempts. */
function countAttemptUsage(
  { name, inputTokens, outputTokens, toolCallCount }: TaskRecord,
  steps: readonly RunStep[],
): Pick<TaskRecord, 'inputTokens' | 'outputTokens' | 'toolCallCount'> {
  const earlier = addUsage(
    steps.flatMap((step) => ('used' in step && step.taskName === name ? [step.used] : [])),
  )
  const since = (all: number, before: number): number =>
    all < 0 || before < 0 ? -1 : Math.max(0, all - before)
  return {
    inputTokens: since(inputTokens, earlier.inputTokens),
    outputTokens: since(outputTokens, earlier.outputTokens),
    toolCallCount: Math.max(0, toolCallCount - earlier.toolCallCount),
  }
}
