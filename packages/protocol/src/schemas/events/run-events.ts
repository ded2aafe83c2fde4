/** Events of a run as a whole: queued, resumed, started, cancelling, completed, result. */
import Type from 'typebox'
import { CancelMode, RunOutcome, Workflow } from '../enums.ts'
import { Count, DurationMs, Instant, StringMap, TagMap, TokenCount } from '../scalars.ts'
import { RunMetrics } from '../run-metrics.ts'

/** The run is accepted and waits for a place. Ours; always the first event of a log, `seq` 0. */
export const RunQueued = Type.Object({
  type: Type.Literal('run_queued'),
  queuedAt: Instant,
  ensemble: Type.String(),
  workflow: Workflow,
  totalTasks: Count,
  inputs: StringMap,
  tags: TagMap,
  /** Who submitted it: the name of a key. */
  actor: Type.Optional(Type.String()),
})
export type RunQueued = Type.Static<typeof RunQueued>

/**
 * Another process goes on with the run after a crash or a hand-over. A task that was running goes on in
 * the same attempt; what was in flight (a model call begun and not ended, a tool call begun) is
 * forgotten, and `llm_iteration_started` of the same task, attempt and turn begins that turn anew. Ours.
 */
export const RunResumed = Type.Object({
  type: Type.Literal('run_resumed'),
  resumedAt: Instant,
  /** Which holder of the run this is; grows by one with each. */
  epoch: Count,
  /** Names of the tasks that are done and will not run again. */
  completedTasks: Type.Array(Type.String()),
})
export type RunResumed = Type.Static<typeof RunResumed>

/** A cancel was asked for and the work in flight is ending. Ours. */
export const RunCancelling = Type.Object({
  type: Type.Literal('run_cancelling'),
  requestedAt: Instant,
  mode: CancelMode,
  /** Who asked: the name of a key. */
  actor: Type.Optional(Type.String()),
})
export type RunCancelling = Type.Static<typeof RunCancelling>

/** One task of the plan, as `ensemble_started` announces it. Ours. */
export const PlannedTask = Type.Object({
  name: Type.String(),
  description: Type.String(),
  agentRole: Type.String(),
  /** Names of the tasks whose output it waits for. */
  context: Type.Array(Type.String()),
})
export type PlannedTask = Type.Static<typeof PlannedTask>

/**
 * The ensemble begins: templates and agents are resolved, no task has started. In HIERARCHICAL the tasks
 * are the workers and, last, the manager; what is delegated runs as a task of its own, which
 * `delegation_started` adds. AgentEnsemble wire.
 */
export const EnsembleStarted = Type.Object({
  type: Type.Literal('ensemble_started'),
  ensembleId: Type.String(),
  startedAt: Instant,
  totalTasks: Count,
  workflow: Workflow,
  ensemble: Type.String(),
  tasks: Type.Array(PlannedTask),
})
export type EnsembleStarted = Type.Static<typeof EnsembleStarted>

/** The ensemble ended, in whatever way; `run_result` follows. AgentEnsemble wire, CANCELLED by the seed. */
export const EnsembleCompleted = Type.Object({
  type: Type.Literal('ensemble_completed'),
  ensembleId: Type.String(),
  completedAt: Instant,
  durationMs: DurationMs,
  exitReason: Type.Enum(['COMPLETED', 'USER_EXIT_EARLY', 'TIMEOUT', 'ERROR', 'CANCELLED']),
  totalTokens: TokenCount,
  totalToolCalls: Count,
})
export type EnsembleCompleted = Type.Static<typeof EnsembleCompleted>

/** What one task of a run gave, as `run_result` lists it. */
export const RunOutput = Type.Object({
  taskName: Type.String(),
  output: Type.String(),
  durationMs: Type.Optional(DurationMs),
})
export type RunOutput = Type.Static<typeof RunOutput>

/** The one terminal event of a run: nothing follows it. Control API seed §4.1. */
export const RunResultEvent = Type.Object({
  type: Type.Literal('run_result'),
  runId: Type.String(),
  status: RunOutcome,
  outputs: Type.Array(RunOutput),
  durationMs: DurationMs,
  metrics: Type.Optional(RunMetrics),
  error: Type.Optional(Type.String()),
  /** Present with `error`: one of `FAILURE_CODES`, as open text. */
  code: Type.Optional(Type.String()),
})
export type RunResultEvent = Type.Static<typeof RunResultEvent>
