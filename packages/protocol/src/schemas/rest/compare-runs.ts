/** Comparison of two runs over REST. */
import Type from 'typebox'
import { FinishReason, ReplayMode, RunStatus, TaskStatus, ToolOutcome, Workflow } from '../enums.ts'
import {
  CLOSED,
  CostUsd,
  Count,
  Difference,
  DurationMs,
  Instant,
  NonBlank,
  PositiveCount,
  TokenCount,
} from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Query of `GET /api/runs/compare`. */
export const CompareRunsQuery = Type.Object(
  {
    /** Id of the first run, such as the parent. */
    a: NonBlank,
    /** Id of the second run. Differences are its values minus those of the first. */
    b: NonBlank,
  },
  CLOSED,
)
export type CompareRunsQuery = Static<typeof CompareRunsQuery>

/** Text of a run in a comparison, cut at a limit. */
export const ComparedText = Type.Object({
  /** The text, or its start. */
  text: Type.String(),
  /** Size of the whole text in bytes of UTF-8. */
  bytes: Count,
  /** True if `text` is only the start of the text. */
  cut: Type.Optional(Type.Literal(true)),
})
export type ComparedText = Static<typeof ComparedText>

const usage = {
  /** Tokens read and written, over all attempts; -1 when not known. */
  tokens: TokenCount,
  /** Estimated cost in US dollars; absent when a price is not known. */
  costUsd: Type.Optional(CostUsd),
  /** Number of model calls that ended, failed ones included. */
  modelCalls: Count,
  /** Number of tool calls that ended, without the calls that a tool made itself. */
  toolCalls: Count,
}

/** Run in a comparison. Calls that a fork or a replay took from its parent are not counted. */
export const ComparedRun = Type.Object({
  /** Id of the run. */
  runId: Type.String(),
  status: RunStatus,
  /** Name of the ensemble. */
  ensemble: Type.String(),
  workflow: Workflow,
  /** Time at which work began; for a run that still waits, the time at which it was accepted. */
  startedAt: Instant,
  /** Duration in milliseconds; absent until the run has ended. */
  durationMs: Type.Optional(DurationMs),
  /** Run that it was forked from, and the `seq` of the last event that it copied from it; `replay` if it replays it. */
  parent: Type.Optional(
    Type.Object({ runId: Type.String(), at: Count, replay: Type.Optional(ReplayMode) }),
  ),
  /** Build of the process that executed it last; absent until a process takes it. */
  build: Type.Optional(Type.String()),
  /** Digest of the code of its ensemble in that build. */
  code: Type.Optional(Type.String()),
  /** Reason of the failure; the start if it is long. */
  error: Type.Optional(Type.String()),
  ...usage,
  /**
   * True if the run has more calls than a comparison reads: `modelCalls` and the listed tool calls are then those of the
   * first part of its log.
   */
  partial: Type.Optional(Type.Literal(true)),
})
export type ComparedRun = Static<typeof ComparedRun>

/** Tool call of a task in a comparison, without the calls that the tool made itself. */
export const ComparedCall = Type.Object({
  toolName: Type.String(),
  /** Arguments as the model wrote them; absent when there are none. */
  input: Type.Optional(ComparedText),
  outcome: ToolOutcome,
  /** Duration of the call in milliseconds. */
  durationMs: DurationMs,
  /** Attempt of the task, from 1. */
  attempt: PositiveCount,
  /** Number of the turn, from 0 in each attempt. */
  iterationIndex: Count,
  /** True if the call was not made by this run: its result is taken from the parent. */
  reused: Type.Optional(Type.Literal(true)),
})
export type ComparedCall = Static<typeof ComparedCall>

/** Aligned tool calls of both runs; one is absent where only the other run made a call. */
export const ComparedCallPair = Type.Object({
  a: Type.Optional(ComparedCall),
  b: Type.Optional(ComparedCall),
  /** Whether both called with equal arguments, as JSON; absent if only one run made the call. */
  sameInput: Type.Optional(Type.Boolean()),
})
export type ComparedCallPair = Static<typeof ComparedCallPair>

/** Task of one run in a comparison. */
export const ComparedTaskSide = Type.Object({
  /** Number of the task in its run, from 1. */
  index: PositiveCount,
  status: TaskStatus,
  /** Role of the agent that works on the task. */
  agentRole: Type.String(),
  /** Description of the task, with its inputs filled in. */
  description: ComparedText,
  /** Current attempt, from 1; 0 before the first. */
  attempt: Count,
  /** Name of the task that delegated it; absent for a task of the plan. */
  delegatedBy: Type.Optional(Type.String()),
  /** True if the task was not executed by this run: its result is taken from the parent. */
  reused: Type.Optional(Type.Literal(true)),
  /** Output of the task. */
  output: Type.Optional(ComparedText),
  /** Reason of the failure; the start if it is long. */
  error: Type.Optional(Type.String()),
  /** Reason why the last answer of the model ended. */
  finishReason: Type.Optional(FinishReason),
  /** Duration of the current attempt in milliseconds. */
  durationMs: Type.Optional(DurationMs),
  ...usage,
})
export type ComparedTaskSide = Static<typeof ComparedTaskSide>

/** Task of both runs, by its name; one side is absent if the task exists in the other run only. */
export const ComparedTask = Type.Object({
  name: Type.String(),
  a: Type.Optional(ComparedTaskSide),
  b: Type.Optional(ComparedTaskSide),
  /** Whether the outputs are equal in full; absent if one run has none. */
  sameOutput: Type.Optional(Type.Boolean()),
  /** Whether the descriptions are equal in full; absent if the task exists in one run only. */
  sameDescription: Type.Optional(Type.Boolean()),
  /** Tool calls in order, aligned by tool and arguments. */
  calls: Type.Array(ComparedCallPair),
})
export type ComparedTask = Static<typeof ComparedTask>

/** Input that differs between two runs. */
export const ComparedInput = Type.Object({
  name: Type.String(),
  /** Value in the first run; absent if it does not have the input. */
  a: Type.Optional(ComparedText),
  /** Value in the second run. */
  b: Type.Optional(ComparedText),
})
export type ComparedInput = Static<typeof ComparedInput>

/** Difference of two costs in US dollars. */
const CostDifference = Type.Number({ minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE })

/** Second run's values minus those of the first; a value is absent if either is unknown. */
export const RunDifference = Type.Object({
  /** In milliseconds; absent until both runs have ended. */
  durationMs: Type.Optional(Difference),
  tokens: Type.Optional(Difference),
  /** In US dollars. */
  costUsd: Type.Optional(CostDifference),
  modelCalls: Difference,
  toolCalls: Difference,
})
export type RunDifference = Static<typeof RunDifference>

/** Maximum number of tasks that a comparison lists. */
export const MAX_COMPARED_TASKS = 2_000

/**
 * Response of `GET /api/runs/compare`. Its size is limited: long texts have `cut`, long runs `partial`, and a comparison of
 * many tasks `omitted`.
 */
export const RunComparison = Type.Object({
  a: ComparedRun,
  b: ComparedRun,
  /**
   * Relation of the first run to the second: `PARENT` if the second was forked or replayed from it, `CHILD` for the
   * reverse, `SIBLINGS` if both have the same parent, `SAME` for one run; absent when there is none.
   */
  relation: Type.Optional(Type.Enum(['PARENT', 'CHILD', 'SIBLINGS', 'SAME'])),
  difference: RunDifference,
  /** Inputs that differ, sorted by name; at most 100. */
  inputs: Type.Array(ComparedInput, { maxItems: 100 }),
  /** Tasks in the order of the first run, then those that only the second has; at most 2,000, first those that differ. */
  tasks: Type.Array(ComparedTask, { maxItems: MAX_COMPARED_TASKS }),
  /** Number of tasks that are not listed, and of those of them that differ; absent when all are listed. */
  omitted: Type.Optional(Type.Object({ tasks: Count, different: Count })),
})
export type RunComparison = Static<typeof RunComparison>
