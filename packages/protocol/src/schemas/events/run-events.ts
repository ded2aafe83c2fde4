/** Events of a run as a whole: queued, resumed, cancelling, started, completed, result. */
import Type from 'typebox'
import { CancelCause, CancelMode, ReplayMode, RunOutcome, Workflow } from '../enums.ts'
import { Count, DurationMs, Instant, StringMap, TagMap, TokenCount } from '../scalars.ts'
import { RunMetrics } from '../run-metrics.ts'

import type { Static } from '../../static.ts'

/** The run is accepted and waits to start. Always the first event of a log, with `seq` 0. */
export const RunQueued = Type.Object({
  type: Type.Literal('run_queued'),
  queuedAt: Instant,
  /** Name of the ensemble. */
  ensemble: Type.String(),
  workflow: Workflow,
  /** Number of planned tasks. */
  totalTasks: Count,
  /** Values of the template variables. */
  inputs: StringMap,
  /** Tags of the run. */
  tags: TagMap,
  /** Name of the key that submitted the run. */
  actor: Type.Optional(Type.String()),
  /** Id of the thread that the run belongs to. */
  threadId: Type.Optional(Type.String()),
  /** Time before which the run does not start. */
  startAt: Type.Optional(Instant),
})
export type RunQueued = Static<typeof RunQueued>

/** Task of the plan, as announced by `ensemble_started`. */
export const PlannedTask = Type.Object({
  name: Type.String(),
  /** Description of the task, with its inputs filled in. */
  description: Type.String(),
  /** Role of the agent that works on the task. */
  agentRole: Type.String(),
  /** Names of the tasks whose output it waits for. */
  context: Type.Array(Type.String()),
})
export type PlannedTask = Static<typeof PlannedTask>

/** Task that the code of a resumed run adds to the plan. */
export const AddedTask = Type.Object({
  /** Number of the task in its run: after those of all earlier tasks. */
  taskIndex: Count,
  ...PlannedTask.properties,
})
export type AddedTask = Static<typeof AddedTask>

/**
 * Another process resumes the run after a crash or a handover. A running task continues in the same attempt. Calls in
 * flight (a model call or tool call that began and did not end) are discarded, and `llm_iteration_started` of the same
 * task, attempt and turn begins that turn again.
 */
export const RunResumed = Type.Object({
  type: Type.Literal('run_resumed'),
  resumedAt: Instant,
  /** Number of the process that owns the run; grows by one with each handover. */
  epoch: Count,
  /** Names of the tasks that are completed and will not run again. */
  completedTasks: Type.Array(Type.String()),
  /**
   * Tasks that the code of the process adds to the plan; absent when there are none. Tasks that it no longer has follow as
   * `task_skipped`.
   */
  addedTasks: Type.Optional(Type.Array(AddedTask)),
  /** Name of the task whose output is the run's output from now on: the code of the process may have another one. */
  outputTask: Type.String(),
})
export type RunResumed = Static<typeof RunResumed>

/** Replaces a stored event that is damaged and cannot be read. */
export const EventUnreadable = Type.Object({
  type: Type.Literal('event_unreadable'),
  /** Type of the stored event. */
  eventType: Type.String(),
  /** Reason why it cannot be read. */
  reason: Type.String(),
})
export type EventUnreadable = Static<typeof EventUnreadable>

/**
 * The run is a fork: the events before this one, except `run_queued`, are copied from another run, and the run continues
 * from there. Calls in flight are discarded, as by `run_resumed`. The copied part costs nothing: totals count from here.
 */
export const RunForked = Type.Object({
  type: Type.Literal('run_forked'),
  forkedAt: Instant,
  /** Id of the run that the events are copied from. */
  parentRunId: Type.String(),
  /** `seq` of the last copied event. */
  at: Count,
  /** Mode in which the run replays the other one, whose events are then not copied; absent for a fork. */
  replay: Type.Optional(ReplayMode),
})
export type RunForked = Static<typeof RunForked>

/** Cause of a cancel, shared by `run_cancelling`, `run_result` and the detail of a run. */
export const cancelOrigin = {
  cause: CancelCause,
  /** Key name of the caller that requested the cancel, left, or set the deadline or limit. */
  actor: Type.Optional(Type.String()),
}

/** A cancel was requested and the work in flight is stopping. */
export const RunCancelling = Type.Object({
  type: Type.Literal('run_cancelling'),
  requestedAt: Instant,
  mode: CancelMode,
  ...cancelOrigin,
})
export type RunCancelling = Static<typeof RunCancelling>

/**
 * The ensemble begins: templates and agents are resolved, and no task has started. With HIERARCHICAL the tasks are the
 * workers and, last, the manager; delegated work is added as separate tasks by `delegation_started`.
 */
export const EnsembleStarted = Type.Object({
  type: Type.Literal('ensemble_started'),
  /** Id of the run. */
  ensembleId: Type.String(),
  startedAt: Instant,
  /** Number of planned tasks. */
  totalTasks: Count,
  workflow: Workflow,
  /** Name of the ensemble. */
  ensemble: Type.String(),
  /** Planned tasks, in order. */
  tasks: Type.Array(PlannedTask),
  /** Name of the planned task whose output is the run's output. */
  outputTask: Type.String(),
})
export type EnsembleStarted = Static<typeof EnsembleStarted>

/** The ensemble ended with any outcome; `run_result` follows. */
export const EnsembleCompleted = Type.Object({
  type: Type.Literal('ensemble_completed'),
  /** Id of the run. */
  ensembleId: Type.String(),
  completedAt: Instant,
  /** Duration in milliseconds. */
  durationMs: DurationMs,
  /** Reason why it ended. */
  exitReason: Type.Enum(['COMPLETED', 'USER_EXIT_EARLY', 'TIMEOUT', 'ERROR', 'CANCELLED']),
  /** Tokens read and written; -1 when not known. */
  totalTokens: TokenCount,
  /** Number of tool calls that ended. */
  totalToolCalls: Count,
})
export type EnsembleCompleted = Static<typeof EnsembleCompleted>

/** Output of one task of a run, as listed by `run_result`. */
export const RunOutput = Type.Object({
  taskName: Type.String(),
  output: Type.String(),
  /** Duration of the task in milliseconds. */
  durationMs: Type.Optional(DurationMs),
})
export type RunOutput = Static<typeof RunOutput>

/** The final event of a run. */
export const RunResultEvent = Type.Object({
  type: Type.Literal('run_result'),
  /** Id of the run. */
  runId: Type.String(),
  status: RunOutcome,
  /** Outputs of the tasks that completed. */
  outputs: Type.Array(RunOutput),
  /**
   * Name of the task in `outputs` whose output is the run's output; present with COMPLETED if a task completed. It
   * differs from that of `ensemble_started` when a reviewer ended the run before that task.
   */
  outputTask: Type.Optional(Type.String()),
  /** Duration of the run in milliseconds. */
  durationMs: DurationMs,
  metrics: Type.Optional(RunMetrics),
  /** Reason of the failure; absent unless the run failed. */
  error: Type.Optional(Type.String()),
  /** Failure code, as open text; present with `error`. */
  code: Type.Optional(Type.String()),
  /** Cause of the cancel; absent unless the run was cancelled. */
  cancel: Type.Optional(Type.Object(cancelOrigin)),
})
export type RunResultEvent = Static<typeof RunResultEvent>

/** The event types of this file, in the order of the union. */
export const RUN_LEVEL_EVENTS = [
  RunQueued,
  RunResumed,
  RunForked,
  RunCancelling,
  EnsembleStarted,
  EnsembleCompleted,
  RunResultEvent,
  EventUnreadable,
] as const
