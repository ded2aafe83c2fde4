/** The first and the last events of a run, and its result. */
import type { Clock, TuttiError } from '@tutti/core'
import { isoNow, toIsoText } from '@tutti/core/internal'

import { addUsage, toRunMetrics, type Usage } from '../usage/usage.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { RunJournal } from '../ports/run-journal.ts'
import type { Task } from '../definition/task.ts'
import type { RunScope } from '../scope/run-scope.ts'
import type { RunEnding, RunResult } from './run-result.ts'
import type { TaskResult } from '../scope/task-outcome.ts'
import type { CancelOrigin } from '../steering/steering.ts'
import type { TrackedTask } from './task-states.ts'
import type { RunEventOf } from '@tutti/protocol'

/** Identity and parts of a run that starts. */
export interface RunStart {
  readonly runId: string
  readonly ensemble: ResolvedEnsemble
  readonly clock: Clock
  readonly journal: RunJournal
}

/** Emits the start of a run, with every task of the plan and its rendered texts. */
export function emitStart(
  { runId, ensemble, clock, journal }: RunStart,
  planned: Iterable<TrackedTask>,
): void {
  const startedAt = clock.now()
  const tasks: RunEventOf<'ensemble_started'>['tasks'] = []
  for (const { task, text } of planned) {
    const { name, agent, context } = task
    const { description } = text
    tasks.push({ name, description, agentRole: agent.role, context: [...context] })
  }
  journal.emit(
    {
      type: 'ensemble_started',
      ensembleId: runId,
      startedAt: toIsoText(startedAt),
      totalTasks: tasks.length,
      workflow: ensemble.plan.workflow,
      ensemble: ensemble.name,
      tasks,
      outputTask: ensemble.plan.outputTask,
    },
    { kind: 'run_begun', startedAt, runMs: 0, tasks: tasks.map(({ name }) => name) },
  )
}

/** A run that continues, and the difference of its tasks from those that earlier processes announced. */
export interface RunResumption {
  readonly epoch: number
  readonly completedTasks: readonly string[]
  readonly added: readonly TrackedTask[]
  /** Tasks that the code no longer has, and that have not begun. */
  readonly removed: readonly { readonly taskName: string; readonly taskIndex: number }[]
}

/** Emits the resumption of a run, with the tasks that its code adds, and skips those that it lacks. */
export function emitResumption(
  {
    ensemble,
    clock,
    journal,
    stopwatch,
  }: Pick<RunScope, 'ensemble' | 'clock' | 'journal' | 'stopwatch'>,
  { epoch, completedTasks, added, removed }: RunResumption,
): void {
  const resumed: RunEventOf<'run_resumed'> = {
    type: 'run_resumed',
    resumedAt: isoNow(clock),
    epoch,
    completedTasks: [...completedTasks],
    ...(added.length === 0 ? {} : { addedTasks: added.map(toAddedTask) }),
    outputTask: ensemble.plan.outputTask,
  }
  const skips = removed.map(({ taskName, taskIndex }): RunEventOf<'task_skipped'> => ({
    type: 'task_skipped',
    taskIndex,
    taskName,
    taskDescription: '',
    skippedAt: isoNow(clock),
    reason: 'The code that continues the run does not have this task',
  }))
  const events = [resumed, ...skips]
  const isChanged = added.length + removed.length > 0
  for (const [at, event] of events.entries()) {
    // The step comes with the last event: after a crash in between, the events are emitted again.
    if (!isChanged || at < events.length - 1) journal.emit(event)
    else
      journal.emit(event, {
        kind: 'tasks_changed',
        runMs: stopwatch.elapsed(),
        added: added.map(({ taskName, taskIndex }) => ({ taskName, taskIndex })),
        removed: removed.map(({ taskName }) => taskName),
      })
  }
}

function toAddedTask({ task, text, taskName: name, taskIndex }: TrackedTask) {
  const { agent, context } = task
  const { description } = text
  return { taskIndex, name, description, agentRole: agent.role, context: [...context] }
}

/** Parts of the result of a run. */
export interface RunEndParts {
  readonly runId: string
  readonly status: RunEnding
  readonly output: string
  readonly tasks: readonly TaskResult[]
  readonly durationMs: number
  readonly used: readonly Usage[]
  readonly error: TuttiError | undefined
}

/** Creates the result of a run. */
export function toResult({
  runId,
  status,
  output,
  tasks,
  durationMs,
  used,
  error,
}: RunEndParts): RunResult {
  const result: RunResult = {
    runId,
    status,
    output,
    tasks,
    durationMs,
    metrics: toRunMetrics(addUsage(used)),
    outputOf<Output>(task: Task<Output>): Output | undefined {
      const done = tasks.find(({ taskName }) => taskName === task.name)
      if (done === undefined) return undefined
      // NOTE: the output reader of a task returns the type of its schema; a task without one is a
      // `Task<string>`.
      return (task.outputReader === undefined ? done.output : done.structured) as Output
    },
  }
  return error === undefined ? result : { ...result, error }
}

/** Reason why a run ended, on the wire. */
export type ExitReason = RunEventOf<'ensemble_completed'>['exitReason']

/** Emits the end of a run. */
export function emitEnd(
  result: RunResult,
  exitReason: ExitReason,
  {
    outputTask,
    clock,
    journal,
    cancelled,
  }: {
    /** Name of the task whose output is the run's output; undefined if no task completed. */
    readonly outputTask: string | undefined
    readonly clock: Clock
    readonly journal: RunJournal
    /** The cancel of the run; undefined if it was not cancelled. */
    readonly cancelled: CancelOrigin | undefined
  },
): void {
  const { runId, status, tasks, durationMs, metrics, error } = result
  journal.emit({
    type: 'ensemble_completed',
    ensembleId: runId,
    completedAt: isoNow(clock),
    durationMs,
    exitReason,
    totalTokens: metrics.totalTokens,
    totalToolCalls: metrics.totalToolCalls,
  })
  const end: RunEventOf<'run_result'> = {
    type: 'run_result',
    runId,
    status,
    outputs: tasks.map(({ taskName, output, durationMs: taskMs }) => ({
      taskName,
      output,
      durationMs: taskMs,
    })),
    durationMs,
    metrics,
  }
  if (status === 'COMPLETED' && outputTask !== undefined) end.outputTask = outputTask
  if (error !== undefined) {
    end.error = error.message
    end.code = error.code
  }
  if (status === 'CANCELLED' && cancelled !== undefined) end.cancel = toWireOrigin(cancelled)
  journal.emit(end)
}

/** Returns what caused a cancel, for `run_result`. */
function toWireOrigin({
  cause,
  actor,
}: CancelOrigin): NonNullable<RunEventOf<'run_result'>['cancel']> {
  return { cause, ...(actor === undefined ? {} : { actor }) }
}
