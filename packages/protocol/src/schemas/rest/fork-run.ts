/** Forks of runs over REST, and previews of them. */
import Type from 'typebox'
import { ReviewTiming } from '../enums.ts'
import {
  CLOSED,
  CostUsd,
  Count,
  Limit,
  JsonObject,
  mapOf,
  NonBlank,
  PositiveCount,
  TokenCount,
} from '../scalars.ts'
import { InjectBody } from './run-control.ts'
import { MAX_REQUEST_TASKS, submitRunFields } from './submit-run.ts'

import type { Static } from '../../static.ts'

/** Maximum number of directives that a fork begins with. */
const MAX_FORK_DIRECTIVES = 100

const { inputs, taskOverrides, tags, runId, webhooks } = submitRunFields

/** Body of `POST /api/runs/{runId}/fork`. What it does not set is as in the forked run, except for webhooks. */
export const ForkRunBody = Type.Object(
  {
    /** `seq` of the last event that the fork copies; or the task before whose first event the fork begins. */
    at: Type.Union([Limit, Type.Object({ task: NonBlank }, CLOSED)]),
    inputs,
    taskOverrides,
    /**
     * Outputs by task name, instead of the answers of their agents: text, or an object for a task with an output schema.
     * Reviews and guardrails of the tasks apply as usual.
     */
    results: Type.Optional(
      mapOf(Type.Union([Type.String(), JsonObject]), {
        minProperties: 1,
        maxProperties: MAX_REQUEST_TASKS,
      }),
    ),
    /** Directives that the fork has from its beginning. */
    directives: Type.Optional(
      Type.Array(InjectBody, { minItems: 1, maxItems: MAX_FORK_DIRECTIVES }),
    ),
    tags,
    runId,
    webhooks,
    /** Whether tools that are not idempotent may be called again; false when absent. */
    allowSideEffects: Type.Optional(Type.Boolean()),
    /** Whether the response is a preview, and no run is created; false when absent. */
    preview: Type.Optional(Type.Boolean()),
  },
  CLOSED,
)
export type ForkRunBody = Static<typeof ForkRunBody>

/** Model and tool calls, with their usage. */
export const ForkUsage = Type.Object({
  /** Number of model calls that ended with a reply. */
  modelCalls: Count,
  /** Number of tool calls that ended. */
  toolCalls: Count,
  /** Tokens read and written; -1 when not known. */
  tokens: TokenCount,
  /** Estimated cost in US dollars; absent when a price is not known. */
  costUsd: Type.Optional(CostUsd),
})
export type ForkUsage = Static<typeof ForkUsage>

/**
 * Part of a fork in a task: REUSED when the task completed in the copied part; ENDED when it failed or was skipped
 * there; CONTINUED when it began there; EXECUTED when it begins in the fork; GIVEN when the request has its output.
 */
export const ForkAction = Type.Enum(['REUSED', 'ENDED', 'CONTINUED', 'EXECUTED', 'GIVEN'])
export type ForkAction = Static<typeof ForkAction>

/** Task of a previewed fork. */
export const ForkTaskPreview = Type.Object({
  name: Type.String(),
  action: ForkAction,
  /** Task whose agent delegated it in the forked run; absent for a task of the plan. */
  delegatedBy: Type.Optional(Type.String()),
  /** Usage in the copied part, which costs the fork nothing; absent when the task did not begin there. */
  reused: Type.Optional(ForkUsage),
  /** Usage in the forked run after the copied part; absent when the task has no such part there. */
  estimate: Type.Optional(ForkUsage),
})
export type ForkTaskPreview = Static<typeof ForkTaskPreview>

/** Open review that a fork asks again, with a new id. */
export const ForkReviewPreview = Type.Object({
  /** Id of the review in the forked run. */
  reviewId: Type.String(),
  taskName: Type.String(),
  timing: ReviewTiming,
})
export type ForkReviewPreview = Static<typeof ForkReviewPreview>

/** Call of a tool that is not idempotent, which a fork might repeat. */
export const ForkCallPreview = Type.Object({
  taskName: Type.String(),
  /** Attempt of the task, from 1. */
  attempt: PositiveCount,
  toolName: Type.String(),
})
export type ForkCallPreview = Static<typeof ForkCallPreview>

/** Response of `POST /api/runs/{runId}/fork` with `preview`: what the fork would do. */
export const ForkPreview = Type.Object({
  /** Id of the forked run. */
  parentRunId: Type.String(),
  /** `seq` of the last event that the fork would copy. */
  at: Count,
  /** Tasks of the plan in order, then delegated tasks of the forked run. */
  tasks: Type.Array(ForkTaskPreview),
  /** Usage of all tasks in the copied part, which costs the fork nothing. */
  reused: ForkUsage,
  /** Usage of the forked run for all that the fork executes. */
  estimate: ForkUsage,
  /** Names of the tasks that the fork executes and that the forked run never began; `estimate` does not include them. */
  withoutEstimate: Type.Array(Type.String()),
  /** Reviews that the fork would ask again: open ones, and decided ones of work that it executes. */
  reviews: Type.Array(ForkReviewPreview),
  /** Calls of tools that are not idempotent, which the fork might repeat. */
  repeatedCalls: Type.Array(ForkCallPreview),
  /** Whether the fork needs `allowSideEffects`. */
  needsAllowSideEffects: Type.Boolean(),
})
export type ForkPreview = Static<typeof ForkPreview>
