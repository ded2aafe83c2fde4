/** Writes the end of a run that the engine does not end: it never began, or it cannot go on. */
import { isoNow, type Clock, type TuttiError } from '@tutti/core'
import { addUsage, totalTokens } from '@tutti/ensemble'

import type { DurableJournal } from '../commit/group-commit.ts'
import type { RunRecord, TaskRecord } from '../run-record.ts'
import type { RunStep } from '@tutti/ensemble'
import type { RunEvent } from '@tutti/protocol'

/** How a run ends. */
export interface EndRunOptions {
  readonly journal: DurableJournal
  readonly clock: Clock
  /** Why it cannot go on. A run that was asked to end is CANCELLED all the same. */
  readonly error: TuttiError
  /** The tasks of the run as they are kept; those that have not ended end with it. */
  readonly tasks: readonly TaskRecord[]
}

/** A run that ends, and its steps; absent when they were not, or cannot be, read. */
export interface EndingRun {
  readonly run: RunRecord
  readonly steps?: readonly RunStep[] | undefined
}

/** Writes the end of a claimed run; what was completed stays. */
export function endRun(
  { run, steps: known }: EndingRun,
  { journal, clock, error, tasks }: EndRunOptions,
): void {
  const steps = known ?? []
  const isCancelled =
    run.status === 'CANCELLING' || steps.some(({ kind }) => kind === 'cancel_asked')
  const why = {
    code: isCancelled ? 'CANCELLED' : error.code,
    reason: isCancelled ? 'The run was cancelled' : error.message,
    now: clock.now(),
  }
  for (const task of tasks) {
    const event = taskEnd(task, steps, why)
    if (event !== undefined) journal.emit(event)
  }
  const durationMs = clock.now() - (run.startedAt ?? clock.now())
  const outputs =
    known === undefined
      ? tasks.flatMap(outputOf)
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
  })
}

/** The output of a task that is completed, as its record has it. */
function outputOf({ status, name: taskName, output, durationMs = 0 }: TaskRecord) {
  return status === 'COMPLETED' && output !== undefined ? [{ taskName, output, durationMs }] : []
}

interface WhyEnded {
  readonly code: string
  readonly reason: string
  readonly now: number
}

/** The end of a task that has not ended; undefined for one that has. */
function taskEnd(
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
    durationMs: now - (task.startedAt ?? now),
    code,
    ...usedByAttempt(task, steps),
    willRetry: false,
  }
}

/** What the present attempt has used: all that the task has, without what earlier attempts had. */
function usedByAttempt(
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
