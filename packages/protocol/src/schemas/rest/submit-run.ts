/**
 * What `POST /api/runs` and the `run_request` message carry, at all three levels of the control API:
 * inputs for the ensemble as it is, overrides for its tasks, or tasks of the request's own.
 *
 * A present but empty `tasks` or `taskOverrides` is refused, as it can only be a mistake.
 */
import Type from 'typebox'
import { CaptureMode, ReviewPolicy, ReviewTimeoutAction, Workflow } from '../enums.ts'
import {
  CLOSED,
  Count,
  JsonObject,
  mapOf,
  NonBlank,
  PositiveCount,
  RunId,
  StringMap,
  TagMap,
  TaskReference,
} from '../scalars.ts'

/** Maximum number of tasks, and of overrides, in one request. */
export const MAX_REQUEST_TASKS = 1_000

/** Maximum number of tools that a request names for one task. */
const MAX_TASK_TOOLS = 256

/** Maximum number of webhooks that a request names. */
const MAX_WEBHOOKS = 100

/** Review settings, as requests and answers have them. */
const reviewFields = {
  /** Time limit for the reviewer, in milliseconds; 0 waits for ever. */
  timeoutMs: Type.Optional(Count),
  /** Action when no decision arrives in time. */
  onTimeout: Type.Optional(ReviewTimeoutAction),
  /** Role that the reviewer's key must have. */
  requiredRole: Type.Optional(NonBlank),
}

/** Defaults for the reviews of one run. Ours. */
export const RunReviewBody = Type.Object(reviewFields, { ...CLOSED, minProperties: 1 })
export type RunReviewBody = Type.Static<typeof RunReviewBody>

/** A review of one task. Ours. */
export const TaskReviewBody = Type.Object(
  {
    ...reviewFields,
    /** Question for the reviewer. */
    prompt: Type.Optional(NonBlank),
    /** Number of times that REJECT runs the task again before it fails; 5 when absent. */
    maxRevisions: Type.Optional(Count),
  },
  CLOSED,
)
export type TaskReviewBody = Type.Static<typeof TaskReviewBody>

/** Whether a person looks at a task, and how. `required` and `skip` are of the control API, the rest is ours. */
export const TaskReviewSetting = Type.Union([Type.Enum(['required', 'skip']), TaskReviewBody])
export type TaskReviewSetting = Type.Static<typeof TaskReviewSetting>

/** One task defined by the request (level 3). Control API seed §4.1. */
export const TaskDefinitionBody = Type.Object(
  {
    name: Type.Optional(NonBlank),
    /** What the agent should do; `{name}` is replaced from the inputs. */
    description: NonBlank,
    expectedOutput: Type.Optional(NonBlank),
    /** Names of tools in the server's catalog. */
    tools: Type.Optional(Type.Array(NonBlank, { maxItems: MAX_TASK_TOOLS })),
    /** Alias of a model in the server's catalog. */
    model: Type.Optional(NonBlank),
    /** Limit of model turns; 25 when absent. */
    maxIterations: Type.Optional(PositiveCount),
    /** Tasks whose output this one gets, and so waits for. */
    context: Type.Optional(Type.Array(TaskReference, { maxItems: MAX_REQUEST_TASKS })),
    /** JSON Schema that the answer must fit; its own form is checked by the server. */
    outputSchema: Type.Optional(JsonObject),
    /** The review of its output. */
    review: Type.Optional(TaskReviewSetting),
    /** The review before it begins. Ours. */
    beforeReview: Type.Optional(TaskReviewSetting),
    additionalContext: Type.Optional(Type.String()),
  },
  CLOSED,
)
export type TaskDefinitionBody = Type.Static<typeof TaskDefinitionBody>

/** What changes in one task of the ensemble for this run (level 2). Control API seed §4.1. */
export const TaskOverrideBody = Type.Object(
  {
    description: Type.Optional(NonBlank),
    expectedOutput: Type.Optional(NonBlank),
    model: Type.Optional(NonBlank),
    maxIterations: Type.Optional(PositiveCount),
    additionalContext: Type.Optional(Type.String()),
    tools: Type.Optional(
      Type.Object(
        {
          add: Type.Optional(Type.Array(NonBlank, { maxItems: MAX_TASK_TOOLS })),
          remove: Type.Optional(Type.Array(NonBlank, { maxItems: MAX_TASK_TOOLS })),
        },
        CLOSED,
      ),
    ),
    /** The review of its output. Ours. */
    review: Type.Optional(TaskReviewSetting),
    /** The review before it begins. Ours. */
    beforeReview: Type.Optional(TaskReviewSetting),
  },
  CLOSED,
)
export type TaskOverrideBody = Type.Static<typeof TaskOverrideBody>

/** The settings of one run, as they are asked for and as they are told. */
const runOptionsFields = {
  /** Characters of a tool's output that reach the model; -1 for all. */
  maxToolOutputLength: Type.Optional(Type.Integer({ minimum: -1 })),
  /** Characters of a tool's output that reach the log of the server; -1 for all, the ensemble's when absent. */
  toolLogTruncateLength: Type.Optional(Type.Integer({ minimum: -1 })),
  workflow: Type.Optional(Workflow),
  /** Whether the server's log tells of every model turn and tool call of the run. */
  verbose: Type.Optional(Type.Boolean()),
  /** Which tasks are reviewed. The server refuses one that is less strict than the operator's. */
  reviewPolicy: Type.Optional(ReviewPolicy),
  /** Capture mode, which decides what is stored and shown in the trace: OFF stores no prompts. The ensemble's when absent. */
  captureMode: Type.Optional(CaptureMode),
}

/** Settings of one run, at every level. Control API seed §4.1, "Run Options". */
export const RunOptionsBody = Type.Object(
  {
    ...runOptionsFields,
    /** Defaults for the reviews of the run. Ours. */
    review: Type.Optional(RunReviewBody),
  },
  CLOSED,
)
export type RunOptionsBody = Type.Static<typeof RunOptionsBody>

/** The same in an answer. */
export const RunOptionsGiven = Type.Object({
  ...runOptionsFields,
  review: Type.Optional(Type.Object(reviewFields)),
})
export type RunOptionsGiven = Type.Static<typeof RunOptionsGiven>

/** The limits of one run, as they are asked for and as they are told. */
const budgetFields = {
  /** Tokens read and written together. */
  maxTokens: Type.Optional(PositiveCount),
  /** In US dollars; refused when a model has no known price. */
  maxCostUsd: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  /** Working time in milliseconds; waiting for people does not count. */
  maxDurationMs: Type.Optional(PositiveCount),
  maxModelCalls: Type.Optional(PositiveCount),
  maxToolCalls: Type.Optional(PositiveCount),
}

/** What one run may use, beside what its ensemble allows it: the smaller of both counts. Ours. */
export const RunBudgetBody = Type.Object(budgetFields, { ...CLOSED, minProperties: 1 })
export type RunBudgetBody = Type.Static<typeof RunBudgetBody>

/** The same in an answer. */
export const RunBudgetGiven = Type.Object(budgetFields)
export type RunBudgetGiven = Type.Static<typeof RunBudgetGiven>

/** The fields of a submission, shared by the body and the message. */
export const submitRunFields = {
  /** Values of the template variables. */
  inputs: Type.Optional(StringMap),
  tasks: Type.Optional(
    Type.Array(TaskDefinitionBody, { minItems: 1, maxItems: MAX_REQUEST_TASKS }),
  ),
  /** Task name, or the start of its description → what changes. */
  taskOverrides: Type.Optional(
    mapOf(TaskOverrideBody, { minProperties: 1, maxProperties: MAX_REQUEST_TASKS }),
  ),
  options: Type.Optional(RunOptionsBody),
  /** What the run may use; beyond it the run fails, and what was done is kept. Ours. */
  budget: Type.Optional(RunBudgetBody),
  /** Metadata to find the run by. */
  tags: Type.Optional(TagMap),
  /** Name of the ensemble; the first one when absent. Ours. */
  ensemble: Type.Optional(NonBlank),
  /** An id of the client's choice; the server chooses one when absent. Ours. */
  runId: Type.Optional(RunId),
  /** Names of webhooks that the operator has registered; they are told what becomes of the run. Ours. */
  webhooks: Type.Optional(Type.Array(NonBlank, { uniqueItems: true, maxItems: MAX_WEBHOOKS })),
}

/** Body of `POST /api/runs`. Control API seed §4.1. */
export const SubmitRunBody = Type.Object(submitRunFields, CLOSED)
export type SubmitRunBody = Type.Static<typeof SubmitRunBody>

/** Query of `POST /api/runs`. Ours. */
export const SubmitRunQuery = Type.Object(
  {
    /**
     * Seconds to wait for the end of the run: it is answered with 200 and the run in detail when it ends in
     * that time, else with 202. Nobody's leaving ends the run.
     */
    wait: Type.Optional(Type.Integer({ minimum: 0, maximum: 600 })),
  },
  CLOSED,
)
export type SubmitRunQuery = Type.Static<typeof SubmitRunQuery>

/** Answer 202 to `POST /api/runs`: the run is queued, not yet done. Control API seed §4.1. */
export const RunAccepted = Type.Object({
  runId: Type.String(),
  status: Type.Literal('ACCEPTED'),
  tasks: Count,
  workflow: Workflow,
})
export type RunAccepted = Type.Static<typeof RunAccepted>
