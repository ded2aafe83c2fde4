/** Runs over REST: the list and its query, and the detail of one run. */
import Type from 'typebox'
import {
  FinishReason,
  ReplayMode,
  RunPriority,
  RunStatus,
  RunStatusList,
  TaskStatus,
  Workflow,
} from '../enums.ts'
import { RepeatsOption } from '../repeats.ts'
import { cancelOrigin } from '../events/run-events.ts'
import { RunMetrics } from '../run-metrics.ts'
import {
  CLOSED,
  CostUsd,
  Count,
  DurationMs,
  Instant,
  ListCursor,
  LogPosition,
  PositiveCount,
  StringMap,
  TagMap,
  TokenCount,
} from '../scalars.ts'
import { PendingReview } from './reviews.ts'
import { RunBudgetGiven, RunOptionsGiven } from './submit-run.ts'

import type { Static } from '../../static.ts'

/** Greatest number of runs that a list skips, and that it counts. */
const MAX_OFFSET = 10_000

/**
 * Query of `GET /api/runs`, and `filter` of a `state_query`. Numbers of the query string are converted before
 * validation.
 */
export const ListRunsQuery = Type.Object(
  {
    /** One status, or several separated by commas. */
    status: Type.Optional(RunStatusList),
    /** `key`, or `key:value`. */
    tag: Type.Optional(Type.String({ minLength: 1 })),
    /** Full name of the ensemble. */
    ensemble: Type.Optional(Type.String({ minLength: 1 })),
    /** Id of the thread. */
    threadId: Type.Optional(Type.String({ minLength: 1 })),
    /**
     * Search text, case-insensitive: matches the start of a run's id, or any part of the value of one of its tags or
     * inputs.
     */
    q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    /** Maximum number of runs; 100 when absent. */
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    /** Number of runs to skip, newest first; 0 when absent. For more, use `cursor`. */
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OFFSET })),
    /** `nextCursor` of the page before; the page continues there, also when runs were created or deleted meanwhile. */
    cursor: Type.Optional(ListCursor),
  },
  CLOSED,
)
export type ListRunsQuery = Static<typeof ListRunsQuery>

/** Query of `GET /api/runs/{runId}/events`. */
export const RunEventsQuery = Type.Object(
  {
    /** Event types separated by commas; all when absent. */
    events: Type.Optional(Type.String({ minLength: 1 })),
    /** First `seq` to send; a negative number counts from the end. `Last-Event-ID` takes precedence. */
    from: Type.Optional(LogPosition),
    /** With `omit`, each long text is sent once; events that repeat it refer to it in `repeats`. */
    repeats: Type.Optional(RepeatsOption),
    /** Ticket, for browsers that cannot send a key. */
    ticket: Type.Optional(Type.String({ minLength: 1 })),
  },
  CLOSED,
)
export type RunEventsQuery = Static<typeof RunEventsQuery>

const runHead = {
  /** Id of the run. */
  runId: Type.String(),
  status: RunStatus,
  /** Time at which work began; for a run that still waits, the time at which it was accepted. */
  startedAt: Instant,
  /** Time before which the run does not start; absent for a run that could start at once. */
  startAt: Type.Optional(Instant),
  /** Time by which its work must have begun, or it fails with QUEUE_TIMEOUT; absent without a limit. */
  startBy: Type.Optional(Instant),
  /** Priority with which it waits to start; absent for `normal`. */
  priority: Type.Optional(RunPriority),
  /** Key by which it takes turns with other waiting runs; absent for the key that submitted it. */
  fairnessKey: Type.Optional(Type.String()),
  /** Time from the submission, or from `startAt`, to the start of its work, in milliseconds; absent until then. */
  queuedMs: Type.Optional(DurationMs),
}

/** Run as listed. */
export const RunSummary = Type.Object({
  ...runHead,
  /** Duration in milliseconds; null until the run has ended. */
  durationMs: Type.Union([DurationMs, Type.Null()]),
  /** Number of tasks. */
  taskCount: Count,
  /** Number of completed tasks. */
  completedTasks: Count,
  /** Number of skipped tasks: by a condition, by a failure before them, or by an early end. */
  skippedTasks: Count,
  workflow: Workflow,
  /** Tags of the run. */
  tags: TagMap,
  /** Task that is running, with its index from 0; absent when none is. */
  currentTask: Type.Optional(Type.Object({ name: Type.String(), index: Count })),
  /** Name of the ensemble. */
  ensemble: Type.String(),
  /** Tokens used so far by all attempts of all tasks; -1 when not known. */
  totalTokens: TokenCount,
  /** Tool calls so far of all attempts of all tasks. */
  totalToolCalls: Count,
  /** Estimated cost so far in US dollars; absent when a price is not known. */
  costUsd: Type.Optional(CostUsd),
  /** Number of reviews that wait for a decision, without waits for events and times. */
  openReviews: Count,
  /** Name of the key that submitted the run. */
  submittedBy: Type.Optional(Type.String()),
  /** Time at which the run ended. */
  completedAt: Type.Optional(Instant),
  /** Reason of the failure; the first 300 characters. */
  error: Type.Optional(Type.String()),
  /** Id of the thread that the run belongs to. */
  threadId: Type.Optional(Type.String()),
  /** Build of the process that executed it last; absent until a process takes it. */
  build: Type.Optional(Type.String()),
  /** Digest of the code of its ensemble in that build. */
  code: Type.Optional(Type.String()),
  /** Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be. */
  unreadable: Type.Optional(Type.String()),
})
export type RunSummary = Static<typeof RunSummary>

/**
 * Response of `GET /api/runs`: one page, newest first. A page ends early at 1 MB; the next page begins at
 * `nextCursor`.
 */
export const RunList = Type.Object({
  runs: Type.Array(RunSummary),
  /** Number of matching runs on all pages, up to 10,000. */
  total: Count,
  /** Whether more than 10,000 runs match. */
  totalCapped: Type.Optional(Type.Literal(true)),
  /** Cursor of the next page; absent on the last one. */
  nextCursor: Type.Optional(Type.String()),
})
export type RunList = Static<typeof RunList>

/** Task of a run. */
export const RunTaskDetail = Type.Object({
  name: Type.String(),
  /** Description of the task, with its inputs filled in. */
  description: Type.String(),
  status: TaskStatus,
  /** Role of the agent that works on the task. */
  agentRole: Type.String(),
  /** Duration of the current attempt in milliseconds. */
  durationMs: Type.Optional(DurationMs),
  /** Tokens read and written in the current attempt; -1 when not known. */
  tokenCount: Type.Optional(TokenCount),
  /** Number of tool calls of the current attempt. */
  toolCallCount: Type.Optional(Count),
  /** Output of the task. */
  output: Type.Optional(Type.String()),
  /** Whether `output` was left out because the outputs of later tasks are long; the events of the run contain it. */
  outputOmitted: Type.Optional(Type.Boolean()),
  /** Number of the task in its run (`taskIndex` of events), from 1. */
  index: PositiveCount,
  /** Current attempt, from 1; 0 before the first. */
  attempt: Count,
  /** Reason of the failure. */
  error: Type.Optional(Type.String()),
  /** Reason why the last answer of the model ended; absent before the end and for a task without a model. */
  finishReason: Type.Optional(FinishReason),
  /** Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be. */
  unreadable: Type.Optional(Type.String()),
})
export type RunTaskDetail = Static<typeof RunTaskDetail>

/** Response of `GET /api/runs/{runId}`. */
export const RunDetail = Type.Object({
  ...runHead,
  /** Time at which the run ended. */
  completedAt: Type.Optional(Instant),
  /** Duration in milliseconds; absent until the run has ended. */
  durationMs: Type.Optional(DurationMs),
  workflow: Workflow,
  /** Values of the template variables. */
  inputs: StringMap,
  /** Tags of the run. */
  tags: TagMap,
  /** Tasks of the run, in order. */
  tasks: Type.Array(RunTaskDetail),
  metrics: RunMetrics,
  /** Reviews that wait for a decision. */
  pendingReviews: Type.Array(PendingReview),
  /** Reason of the failure. */
  error: Type.Optional(Type.String()),
  /** Cause of the cancel; absent unless the run has ended as CANCELLED. */
  cancel: Type.Optional(Type.Object(cancelOrigin)),
  /** Name of the ensemble. */
  ensemble: Type.String(),
  /** `seq` of the newest event; to follow the run without a gap, begin at the next one. */
  lastSeq: Count,
  /** Options with which the run was submitted. */
  options: Type.Optional(RunOptionsGiven),
  /** Limits with which the run was submitted, in addition to the ensemble's. */
  budget: Type.Optional(RunBudgetGiven),
  /** Name of the key that submitted the run. */
  submittedBy: Type.Optional(Type.String()),
  /** Names of the webhooks that are notified about the run. */
  webhooks: Type.Optional(Type.Array(Type.String())),
  /** Id of the thread that the run belongs to. */
  threadId: Type.Optional(Type.String()),
  /** Run that it was forked from, and the `seq` of the last event that it copied from it; `replay` if it replays it. */
  parent: Type.Optional(
    Type.Object({ runId: Type.String(), at: Count, replay: Type.Optional(ReplayMode) }),
  ),
  /**
   * Build chosen for it, then the build of the process that took it last; absent while there is none.
   */
  build: Type.Optional(Type.String()),
  /** Digest of the code of its ensemble in that build. */
  code: Type.Optional(Type.String()),
  /** Builds that have this code: a process of one of them must start. Only while the run is WAITING_FOR_BUILD. */
  resumableBy: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000 })),
  /** Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be. */
  unreadable: Type.Optional(Type.String()),
})
export type RunDetail = Static<typeof RunDetail>
