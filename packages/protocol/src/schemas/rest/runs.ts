/** What can be read about runs: the list and its query, and one run in detail. */
import Type from 'typebox'
import { FinishReason, RunStatus, RunStatusList, TaskStatus, Workflow } from '../enums.ts'
import { RunMetrics } from '../run-metrics.ts'
import {
  CLOSED,
  CostUsd,
  Count,
  DurationMs,
  Instant,
  PositiveCount,
  StringMap,
  TagMap,
  TokenCount,
} from '../scalars.ts'
import { PendingReview } from './reviews.ts'
import { RunBudgetGiven, RunOptionsGiven } from './submit-run.ts'

/**
 * Query of `GET /api/runs`, and `filter` of a `state_query`. As it is after the numbers of the query
 * string were made numbers.
 */
export const ListRunsQuery = Type.Object(
  {
    /** Several with commas between them. */
    status: Type.Optional(RunStatusList),
    /** `key`, or `key:value`. */
    tag: Type.Optional(Type.String({ minLength: 1 })),
    /** The name of the ensemble, in full. Ours. */
    ensemble: Type.Optional(Type.String({ minLength: 1 })),
    /** What the run's id begins with, or one of its tags or inputs has in its value, in any case. Ours. */
    q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    /** How many runs at most; 100 when absent. */
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    /** How many runs to pass over, newest first; 0 when absent. */
    offset: Type.Optional(Count),
  },
  CLOSED,
)
export type ListRunsQuery = Type.Static<typeof ListRunsQuery>

/** Query of `GET /api/runs/{runId}/events`. Control API seed §4.6. */
export const RunEventsQuery = Type.Object(
  {
    /** Event types with commas between them; all when absent. */
    events: Type.Optional(Type.String({ minLength: 1 })),
    /** First `seq` to send; negative counts from the end. `Last-Event-ID` wins over it. */
    from: Type.Optional(Type.Integer()),
    /** For browsers, in place of a key. Ours. */
    ticket: Type.Optional(Type.String({ minLength: 1 })),
  },
  CLOSED,
)
export type RunEventsQuery = Type.Static<typeof RunEventsQuery>

const runHead = {
  runId: Type.String(),
  status: RunStatus,
  /** When work began; for a run that still waits, when it was accepted. */
  startedAt: Instant,
}

/** A run as the list shows it. Control API seed §4.3; what comes after `currentTask` is ours. */
export const RunSummary = Type.Object({
  ...runHead,
  /** Null until the run is over. */
  durationMs: Type.Union([DurationMs, Type.Null()]),
  taskCount: Count,
  completedTasks: Count,
  workflow: Workflow,
  tags: TagMap,
  /** Absent when no task is being worked on. `index` counts from 0, as in the seed. */
  currentTask: Type.Optional(Type.Object({ name: Type.String(), index: Count })),
  ensemble: Type.String(),
  /** So far, over all tasks and their attempts. */
  totalTokens: TokenCount,
  /** Likewise. */
  totalToolCalls: Count,
  /** Likewise; absent as soon as a price is not known. */
  costUsd: Type.Optional(CostUsd),
  /** Reviews that wait for a decision. */
  openReviews: Count,
  /** The key that submitted it, by its name. */
  submittedBy: Type.Optional(Type.String()),
  completedAt: Type.Optional(Instant),
  /** Why it failed; the first 300 characters. */
  error: Type.Optional(Type.String()),
})
export type RunSummary = Type.Static<typeof RunSummary>

/**
 * Answer to `GET /api/runs`: one page, newest first. A page ends early at 1 MB; the next one begins at the `offset`
 * plus the number of runs on it. Control API seed §4.3.
 */
export const RunList = Type.Object({
  runs: Type.Array(RunSummary),
  /** How many runs match in all, on every page together. */
  total: Count,
})
export type RunList = Type.Static<typeof RunList>

/** One task of a run. Control API seed §4.3; `index`, `attempt` and `error` are ours. */
export const RunTaskDetail = Type.Object({
  name: Type.String(),
  description: Type.String(),
  status: TaskStatus,
  agentRole: Type.String(),
  durationMs: Type.Optional(DurationMs),
  tokenCount: Type.Optional(TokenCount),
  toolCallCount: Type.Optional(Count),
  output: Type.Optional(Type.String()),
  /** Whether `output` was left out because the outputs of later tasks are long; the run's events have it. Ours. */
  outputOmitted: Type.Optional(Type.Boolean()),
  /** The task's number in events (`taskIndex`), from 1. */
  index: PositiveCount,
  /** Which try this is; 0 before the first. */
  attempt: Count,
  error: Type.Optional(Type.String()),
  /** Finish reason of the last answer of the model. Ours; absent before the end and for a task without a model. */
  finishReason: Type.Optional(FinishReason),
})
export type RunTaskDetail = Type.Static<typeof RunTaskDetail>

/** Answer to `GET /api/runs/{runId}`. Control API seed §4.3. */
export const RunDetail = Type.Object({
  ...runHead,
  completedAt: Type.Optional(Instant),
  durationMs: Type.Optional(DurationMs),
  workflow: Workflow,
  inputs: StringMap,
  tags: TagMap,
  tasks: Type.Array(RunTaskDetail),
  metrics: RunMetrics,
  pendingReviews: Type.Array(PendingReview),
  error: Type.Optional(Type.String()),
  ensemble: Type.String(),
  /** `seq` of the newest event; to follow the run with nothing missed, begin at the one after it. */
  lastSeq: Count,
  /** The options it was submitted with. Ours. */
  options: Type.Optional(RunOptionsGiven),
  /** What whoever asked for it lets it use, beside what its ensemble allows. Ours. */
  budget: Type.Optional(RunBudgetGiven),
  /** The key that submitted it, by its name. Ours. */
  submittedBy: Type.Optional(Type.String()),
  /** The webhooks that are told of it, by their names. Ours. */
  webhooks: Type.Optional(Type.Array(Type.String())),
})
export type RunDetail = Type.Static<typeof RunDetail>
