/**
 * Content of `POST /api/runs` and of the `run_request` message, at three levels: inputs for the ensemble unchanged,
 * overrides for its tasks, or tasks defined by the request.
 *
 * `tasks` or `taskOverrides` that are present but empty are rejected, because they can only be a mistake.
 */
import Type from 'typebox'
import { HistoryMessage, MAX_HISTORY_MESSAGES } from '../history-message.ts'
import { RepeatsOption } from '../repeats.ts'
import { CaptureMode, ReviewPolicy, ReviewTimeoutAction, RunPriority, Workflow } from '../enums.ts'
import {
  CLOSED,
  CostLimit,
  Count,
  DurationMs,
  ExternalEventKey,
  ExternalEventName,
  FairnessKey,
  Instant,
  JsonObject,
  LengthLimit,
  Limit,
  mapOf,
  NonBlank,
  PositiveLimit,
  RunId,
  StringMap,
  TagMap,
  TaskReference,
  WorkingTimeMs,
} from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Maximum number of tasks, and of overrides, in one request. */
export const MAX_REQUEST_TASKS = 1_000

/** Maximum number of items of a list that a request maps. */
const MAX_REQUEST_ITEMS = 10_000

/** Maximum number of rounds of a task that a request repeats. */
const MAX_REQUEST_ROUNDS = 1_000

/** Maximum number of tools that a request names for one task. */
const MAX_TASK_TOOLS = 256

/** Maximum number of agents of one task of a request, and of handoffs of one agent. */
export const MAX_TASK_AGENTS = 50

/** Maximum number of webhooks that a request names. */
const MAX_WEBHOOKS = 100

/** Maximum delay of the start of a run, and maximum time in the queue, in milliseconds: 366 days. */
export const MAX_START_DELAY_MS = 366 * 24 * 3_600_000

/** Start of a run, shared by submissions and schedules. */
export const queueFields = {
  /** Runs of a higher priority start before all others that wait; `normal` when absent. */
  priority: Type.Optional(RunPriority),
  /**
   * Runs of one priority take turns by this key when they wait, one run each, such as by customer; the name of the key that
   * submits the run when absent.
   */
  fairnessKey: Type.Optional(FairnessKey),
  /**
   * Maximum time from the time at which the run may start to the start of its work, in milliseconds, up to 366 days. A run
   * that has not begun by then fails with QUEUE_TIMEOUT. No limit when absent.
   */
  maxQueueMs: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_START_DELAY_MS })),
}

/** Review settings, shared by requests and responses. */
const reviewSettingFields = {
  /** Time limit for the reviewer in milliseconds, up to 100 years; 0 means no limit. */
  timeoutMs: Type.Optional(DurationMs),
  /** Action when no decision arrives in time. */
  onTimeout: Type.Optional(ReviewTimeoutAction),
  /** Role that the key of the reviewer must have. */
  requiredRole: Type.Optional(NonBlank),
}

/** Defaults for the reviews of a run. */
export const RunReviewBody = Type.Object(reviewSettingFields, { ...CLOSED, minProperties: 1 })
export type RunReviewBody = Static<typeof RunReviewBody>

/** Review of a task. */
export const TaskReviewBody = Type.Object(
  {
    ...reviewSettingFields,
    /** Question for the reviewer. */
    prompt: Type.Optional(NonBlank),
    /** Number of times that REJECT repeats the task before it fails; 5 when absent. */
    maxRevisions: Type.Optional(Limit),
  },
  CLOSED,
)
export type TaskReviewBody = Static<typeof TaskReviewBody>

/** Whether and how a task is reviewed. */
export const TaskReviewSetting = Type.Union([Type.Enum(['required', 'skip']), TaskReviewBody])
export type TaskReviewSetting = Static<typeof TaskReviewSetting>

/** Expression in CEL. */
const ConditionText = Type.String({ minLength: 1, maxLength: 2_000 })

/** Fields of every task that a request defines. */
const requestedTaskFields = {
  /** Name of the task; other tasks refer to it as `$name`. */
  name: Type.Optional(NonBlank),
  /** Instructions for the agent; `{name}` is replaced by the input of that name. */
  description: NonBlank,
  /** Description of the expected output, for the agent. */
  expectedOutput: Type.Optional(NonBlank),
  /** Names of tools in the server's catalog. */
  tools: Type.Optional(Type.Array(NonBlank, { maxItems: MAX_TASK_TOOLS })),
  /** Alias of a model in the server's catalog. */
  model: Type.Optional(NonBlank),
  /** Maximum number of model turns; 25 when absent. */
  maxIterations: Type.Optional(PositiveLimit),
  /** JSON Schema that the output must match; the server also validates the schema itself. */
  outputSchema: Type.Optional(JsonObject),
  /** Review of the output. */
  review: Type.Optional(TaskReviewSetting),
  /** Review before the task begins. */
  beforeReview: Type.Optional(TaskReviewSetting),
  /** Additional text for the agent. */
  additionalContext: Type.Optional(Type.String()),
  /**
   * System message of the agent. With it, the model gets the description as it is, without headings: plain chat. An
   * empty text sends no system message.
   */
  instructions: Type.Optional(Type.String()),
  /** Maximum number of output tokens of each model call. A longer answer is cut, and fails the task. */
  maxOutputTokens: Type.Optional(PositiveLimit),
  /** Whether an empty last answer of the agent is a valid output. False when absent: the task then fails with OUTPUT_EMPTY. */
  allowEmptyOutput: Type.Optional(Type.Boolean()),
}

/** Task of a request that combines outputs. It has no context. */
export const ReduceTaskBody = Type.Object(requestedTaskFields, CLOSED)
export type ReduceTaskBody = Static<typeof ReduceTaskBody>

/** Combines the outputs of all items in levels of tasks, each time as many as fit. */
export const ReduceBody = Type.Object(
  {
    /** Task that combines outputs; the one of the last level has the output. */
    reduce: ReduceTaskBody,
    /** Maximum size of the outputs that one task gets, in tokens of 4 characters; a longer output is alone. */
    maxTokens: PositiveLimit,
    /** Name of the template variable for the outputs; `items` when absent. */
    as: Type.Optional(NonBlank),
  },
  CLOSED,
)
export type ReduceBody = Static<typeof ReduceBody>

/** Limits of a task for each item of a list. */
const itemLimitFields = {
  /** Maximum number of items, up to 10,000; a longer list is refused before any of its tasks begins. 100 when absent. */
  maxItems: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_REQUEST_ITEMS })),
  /** Maximum number of tasks at the same time; at most as many as the ensemble allows. */
  maxParallel: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_REQUEST_ITEMS })),
  /** Maximum number of failed tasks with `continue` and `collect`; no limit when absent. */
  maxFailures: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_REQUEST_ITEMS })),
  /** Number of completed tasks with which the task ends; the others are cancelled. All must end when absent. */
  until: Type.Optional(
    Type.Object({ succeeded: Type.Integer({ minimum: 1, maximum: MAX_REQUEST_ITEMS }) }, CLOSED),
  ),
}

/** Changes to the limits of a task for each item of a list. */
export const ItemLimitsBody = Type.Object(itemLimitFields, { ...CLOSED, minProperties: 1 })
export type ItemLimitsBody = Static<typeof ItemLimitsBody>

/** Reaction to a failed task of an item. */
export const ItemErrorReaction = Type.Enum(['fail', 'continue', 'collect'])
export type ItemErrorReaction = Static<typeof ItemErrorReaction>

/** Adds a task to the run for each item of a list. */
export const ForEachBody = Type.Object(
  {
    /** Earlier task whose output is the list, such as `$topics`; or the name of an input that has it as JSON. */
    over: NonBlank,
    /** Name of the template variable for the item; its fields are `{item.title}`. `item` when absent. */
    as: Type.Optional(NonBlank),
    /** Path of the field that has the key of an item, such as `id` or `author.id`: a text or a number. The index when absent. */
    key: Type.Optional(NonBlank),
    ...itemLimitFields,
    /**
     * `fail` ends the task with the first failure, `continue` leaves failures out, and `collect` has `{ key, ok, output }` or
     * `{ key, ok, error }` for each item. `fail` when absent.
     */
    onError: Type.Optional(ItemErrorReaction),
    /**
     * Output of the task: the `list` of all outputs, an object with the `outputs` by key, or their combination. With `onError`
     * `collect`, an object has `{ ok, output }` or `{ ok, error }` for each key. `list` when absent.
     */
    collect: Type.Optional(Type.Union([Type.Enum(['list', 'outputs']), ReduceBody])),
  },
  CLOSED,
)
export type ForEachBody = Static<typeof ForEachBody>

/** Task of a request that judges the output of a round. It has no context. */
export const JudgeTaskBody = Type.Object(requestedTaskFields, CLOSED)
export type JudgeTaskBody = Static<typeof JudgeTaskBody>

/** Ends a loop by the answer of a task. */
export const LoopJudgeBody = Type.Object(
  {
    /**
     * Task that gets `{output}` and the variables of the round. Its `outputSchema` is a boolean, or an object with the boolean
     * `done` and the text `feedback`, which is `{feedback}` in the next round.
     */
    judge: JudgeTaskBody,
  },
  CLOSED,
)
export type LoopJudgeBody = Static<typeof LoopJudgeBody>

/** Asks a person after the last round. */
export const LoopReviewBody = Type.Object(
  {
    /** CONTINUE accepts the output, EDIT replaces it, and REJECT with feedback orders another round, up to `maxRevisions` times. */
    review: TaskReviewBody,
  },
  CLOSED,
)
export type LoopReviewBody = Static<typeof LoopReviewBody>

/** Limits of the rounds in the variable `{history}`. */
export const LoopHistoryBody = Type.Object(
  {
    /** Maximum number of rounds; no limit when absent. */
    window: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_REQUEST_ROUNDS })),
    /** Maximum size in tokens of 4 characters; older rounds are left out, and the text says which. 32,000 when absent. */
    maxTokens: Type.Optional(PositiveLimit),
  },
  { ...CLOSED, minProperties: 1 },
)
export type LoopHistoryBody = Static<typeof LoopHistoryBody>

/** Limits of a task that is repeated. */
const loopLimitFields = {
  /** Maximum number of rounds, up to 1,000. */
  max: Type.Integer({ minimum: 1, maximum: MAX_REQUEST_ROUNDS }),
}

/** Changes to the limits of a task that is repeated. */
export const LoopLimitsBody = Type.Object(loopLimitFields, CLOSED)
export type LoopLimitsBody = Static<typeof LoopLimitsBody>

/** Output of a task that is repeated. */
export const LoopResult = Type.Enum(['last', 'all'])
export type LoopResult = Static<typeof LoopResult>

/** Repeats the task in rounds. A round has the variables `{round}`, `{previous}`, `{feedback}` and `{history}`. */
export const LoopBody = Type.Object(
  {
    ...loopLimitFields,
    /**
     * Ends the loop after a round: an expression in CEL over `output`, `outputs`, `round` and `inputs`, such as
     * `output.score > 7 || round == 5`, or a judge. All `max` rounds when absent.
     */
    until: Type.Optional(Type.Union([ConditionText, LoopJudgeBody])),
    /**
     * After `max` rounds: `accept` takes the last output, `fail` fails the task, and `review` asks a person, who can order more
     * rounds. When absent: `fail`, or `accept` without `until` and `stopWhenUnchanged`.
     */
    onMax: Type.Optional(Type.Union([Type.Enum(['accept', 'fail', 'review']), LoopReviewBody])),
    /** Whether the loop ends when a round has the same output as the one before. False when absent. */
    stopWhenUnchanged: Type.Optional(Type.Boolean()),
    /** Rounds in the variable `{history}` of the next round. `last` when absent. */
    history: Type.Optional(Type.Union([Type.Enum(['last', 'all']), LoopHistoryBody])),
    /** Output of the task: that of the last round, or the list of all. `last` when absent. */
    result: Type.Optional(LoopResult),
  },
  CLOSED,
)
export type LoopBody = Static<typeof LoopBody>

/** Messages of a conversation for the next agent: `all`, or only the texts of users and agents. */
export const HandoffFilterName = Type.Enum(['all', 'withoutTools'])
export type HandoffFilterName = Static<typeof HandoffFilterName>

/** Agent of the same task to which an agent may hand off the conversation: its role, or its role with settings. */
export const HandoffBody = Type.Union([
  NonBlank,
  Type.Object(
    {
      /** Role of the next agent. */
      agent: NonBlank,
      /**
       * Name of its tool: 1 to 64 letters, digits, `_` and `-`. When absent: `transfer_to_` and the role, with `_` in
       * place of all other characters than letters and digits.
       */
      name: Type.Optional(NonBlank),
      /** Description of the tool, for the model. The role and the goal of the next agent when absent. */
      description: Type.Optional(NonBlank),
      /** JSON Schema of the arguments, an object; the next agent reads them in the conversation. No arguments when absent. */
      inputSchema: Type.Optional(JsonObject),
      /** Messages for the next agent. `all` when absent. */
      filter: Type.Optional(HandoffFilterName),
    },
    CLOSED,
  ),
])
export type HandoffBody = Static<typeof HandoffBody>

/** Agent of a task. */
export const TaskAgentBody = Type.Object(
  {
    /** Role, unique among the agents of the task. */
    role: NonBlank,
    /** Goal, as part of the system message. */
    goal: Type.Optional(NonBlank),
    /** Background, as context for its work. */
    background: Type.Optional(NonBlank),
    /** System message instead of the role, the goal and the background. */
    instructions: Type.Optional(Type.String()),
    /** Names of tools in the server's catalog. The first agent also has those of the task. */
    tools: Type.Optional(Type.Array(NonBlank, { maxItems: MAX_TASK_TOOLS })),
    /** Alias of a model in the server's catalog. That of the task, else that of the ensemble when absent. */
    model: Type.Optional(NonBlank),
    /** Maximum number of model turns. That of the task when absent. */
    maxIterations: Type.Optional(PositiveLimit),
    /** Agents to which it may hand off the conversation. None when absent. */
    handoffs: Type.Optional(Type.Array(HandoffBody, { maxItems: MAX_TASK_AGENTS })),
  },
  CLOSED,
)
export type TaskAgentBody = Static<typeof TaskAgentBody>

/** External event that a task waits for: its name, or its name with a separate key. */
export const EventToAwaitBody = Type.Union([
  ExternalEventName,
  Type.Object({ name: ExternalEventName, key: Type.Optional(ExternalEventKey) }, CLOSED),
])
export type EventToAwaitBody = Static<typeof EventToAwaitBody>

/** Maximum number of external events of one wait. */
export const MAX_AWAITED_EVENTS = 20

const awaitedList = Type.Array(EventToAwaitBody, { minItems: 1, maxItems: MAX_AWAITED_EVENTS })

/** Wait for external events, at most until a time. */
export const WaitForBody = Type.Object(
  {
    /** One event, any of several, or all of several. */
    event: Type.Union([
      EventToAwaitBody,
      Type.Object({ any: awaitedList }, CLOSED),
      Type.Object({ all: awaitedList }, CLOSED),
    ]),
    /** Correlation key of the events; `{name}` is replaced by the input of that name. Events without a key when absent. */
    key: Type.Optional(ExternalEventKey),
    /** JSON Schema of the event data; any JSON when absent. */
    schema: Type.Optional(JsonObject),
    /** Maximum time from the opening of the wait, in milliseconds; no limit when absent. */
    timeoutMs: Type.Optional(WorkingTimeMs),
    /** Time at which the wait ends; no limit when absent. */
    until: Type.Optional(Instant),
    /** Whether people may answer too, with data that matches the schema; false when absent. */
    review: Type.Optional(
      Type.Union([
        Type.Boolean(),
        Type.Object(
          {
            /** Question to the reviewer. */
            prompt: Type.Optional(NonBlank),
            /** Role that the key of the reviewer must have. */
            requiredRole: Type.Optional(NonBlank),
          },
          CLOSED,
        ),
      ]),
    ),
  },
  CLOSED,
)
export type WaitForBody = Static<typeof WaitForBody>

/** Task that a request defines. */
export const TaskDefinitionBody = Type.Object(
  {
    ...requestedTaskFields,
    /** Instructions for the agent; `{name}` is replaced by the input of that name. Required unless the task runs an ensemble. */
    description: Type.Optional(NonBlank),
    /**
     * Agents of the task. The first one begins; the one that has the conversation last gives the answer. If the task itself has
     * `model`, `maxIterations` or `instructions`, the first agent has these. When absent, the description decides the role.
     */
    agents: Type.Optional(Type.Array(TaskAgentBody, { minItems: 1, maxItems: MAX_TASK_AGENTS })),
    /** Maximum number of handoffs between the agents of the task; after them an agent must answer itself. 10 when absent. */
    maxHandoffs: Type.Optional(PositiveLimit),
    /** Tasks whose output this task gets; it waits for them. */
    context: Type.Optional(Type.Array(TaskReference, { maxItems: MAX_REQUEST_TASKS })),
    /** Adds a task for each item of a list. The other fields define the task of one item; the output is the list of all outputs. */
    forEach: Type.Optional(ForEachBody),
    /** Repeats the task in rounds. The other fields define a round. With `forEach`, the task of each item is repeated. */
    loop: Type.Optional(LoopBody),
    /**
     * Waits for external events instead of calling a model. The output is `{ arrived, data, name, eventId }`, and with `all`
     * `{ arrived, events }` with that of each event.
     */
    waitFor: Type.Optional(WaitForBody),
    /**
     * Name of an ensemble of the server whose tasks the task adds to the run. It has no agent, so it has no fields for one.
     */
    ensemble: Type.Optional(NonBlank),
    /**
     * Inputs of its ensemble by name: a text such as `{city}`, an output as `$task`, or a field of one as `$task.field`. Text that
     * begins with `$` begins with `$$`. The run has the other inputs.
     */
    inputs: Type.Optional(StringMap),
    /**
     * Name of the task of its ensemble whose output it has. It fails if conditions skip that one. The last completed task when
     * absent.
     */
    output: Type.Optional(NonBlank),
    /**
     * Condition in CEL, such as `outputs.classify.kind == 'bug'`, over `inputs` (texts) and `outputs` of other tasks. The task is
     * skipped if it is false. The task always runs when absent.
     */
    when: Type.Optional(ConditionText),
    /**
     * Name of a switch. Of the tasks with this name only the first one whose `when` is true runs; one without `when` is the last.
     */
    switch: Type.Optional(NonBlank),
  },
  {
    ...CLOSED,
    if: { required: ['ensemble'] },
    else: { required: ['description'], properties: { description: NonBlank } },
  },
)

type TaskDefinitionFields = Static<typeof TaskDefinitionBody>

/** Fields of a requested task that only its agent uses. */
export const AGENT_TASK_FIELDS = [
  'tools',
  'model',
  'maxIterations',
  'outputSchema',
  'additionalContext',
  'instructions',
  'maxOutputTokens',
  'allowEmptyOutput',
  'agents',
  'maxHandoffs',
] as const satisfies readonly (keyof TaskDefinitionFields)[]

type AgentTaskField = (typeof AGENT_TASK_FIELDS)[number]

/** A requested task with an agent, or one that runs an ensemble. */
export type TaskDefinitionBody =
  | (Omit<TaskDefinitionFields, 'description' | 'ensemble' | 'inputs' | 'output'> & {
      description: string
      ensemble?: never
      inputs?: never
      output?: never
    })
  | (Omit<TaskDefinitionFields, AgentTaskField | 'waitFor' | 'ensemble'> & { ensemble: string } & {
      [Field in AgentTaskField | 'waitFor']?: never
    })

// NOTE: the schema has one list of fields for both kinds of tasks; the type says which of them each kind has.
const RequestedTaskBody = TaskDefinitionBody as unknown as Type.TUnsafe<TaskDefinitionBody>

/** Changes to one task of the ensemble, for this run. Those to a task that adds tasks apply to the task of each item or round. */
export const TaskOverrideBody = Type.Object(
  {
    /** Instructions for the agent; `{name}` is replaced by the input of that name. */
    description: Type.Optional(NonBlank),
    /** Description of the expected output, for the agent. */
    expectedOutput: Type.Optional(NonBlank),
    /** Alias of a model in the server's catalog. */
    model: Type.Optional(NonBlank),
    /** Maximum number of model turns. */
    maxIterations: Type.Optional(PositiveLimit),
    /** Maximum number of handoffs between the agents of the task. */
    maxHandoffs: Type.Optional(PositiveLimit),
    /** Additional text for the agent. */
    additionalContext: Type.Optional(Type.String()),
    /** Tools to add or remove, by name. */
    tools: Type.Optional(
      Type.Object(
        {
          add: Type.Optional(Type.Array(NonBlank, { maxItems: MAX_TASK_TOOLS })),
          remove: Type.Optional(Type.Array(NonBlank, { maxItems: MAX_TASK_TOOLS })),
        },
        CLOSED,
      ),
    ),
    /** Review of the output. */
    review: Type.Optional(TaskReviewSetting),
    /** Review before the task begins. */
    beforeReview: Type.Optional(TaskReviewSetting),
    /** Limits of a task for each item of a list. */
    forEach: Type.Optional(ItemLimitsBody),
    /** Limits of a task that is repeated. */
    loop: Type.Optional(LoopLimitsBody),
  },
  CLOSED,
)
export type TaskOverrideBody = Static<typeof TaskOverrideBody>

/** Settings of a run, shared by requests and responses. */
const runOptionsFields = {
  /** Maximum number of characters of a tool output that reach the model; -1 for no limit, the ensemble's setting when absent. */
  maxToolOutputLength: Type.Optional(LengthLimit),
  /**
   * Maximum number of characters of a tool output in the server's log; -1 for no limit, the ensemble's setting when
   * absent.
   */
  toolLogTruncateLength: Type.Optional(LengthLimit),
  workflow: Type.Optional(Workflow),
  /** Whether the server logs every model turn and tool call of the run. */
  verbose: Type.Optional(Type.Boolean()),
  /** Tasks that are reviewed. The server rejects a policy that is less strict than the operator's. */
  reviewPolicy: Type.Optional(ReviewPolicy),
  /** Amount of detail that is stored for the trace; the ensemble's setting when absent. OFF stores no prompts. */
  captureMode: Type.Optional(CaptureMode),
}

/** Settings of a run. */
export const RunOptionsBody = Type.Object(
  {
    ...runOptionsFields,
    /** Defaults for the reviews of the run. */
    review: Type.Optional(RunReviewBody),
  },
  CLOSED,
)
export type RunOptionsBody = Static<typeof RunOptionsBody>

/** Settings with which a run was submitted. */
export const RunOptionsGiven = Type.Object({
  ...runOptionsFields,
  review: Type.Optional(Type.Object(reviewSettingFields)),
})
export type RunOptionsGiven = Static<typeof RunOptionsGiven>

/** Limits of a run, shared by requests and responses. */
const budgetFields = {
  /** Maximum number of tokens, read and written. */
  maxTokens: Type.Optional(PositiveLimit),
  /** Maximum cost in US dollars; rejected when the price of a model is not known. */
  maxCostUsd: Type.Optional(CostLimit),
  /** Maximum working time in milliseconds, up to 100 years; waiting for reviewers does not count. */
  maxDurationMs: Type.Optional(WorkingTimeMs),
  /** Maximum number of model calls. */
  maxModelCalls: Type.Optional(PositiveLimit),
  /** Maximum number of tool calls. */
  maxToolCalls: Type.Optional(PositiveLimit),
}

/** Limits of a run, in addition to its ensemble's: the smaller of both applies. */
export const RunBudgetBody = Type.Object(budgetFields, { ...CLOSED, minProperties: 1 })
export type RunBudgetBody = Static<typeof RunBudgetBody>

/** Limits with which a run was submitted. */
export const RunBudgetGiven = Type.Object(budgetFields)
export type RunBudgetGiven = Static<typeof RunBudgetGiven>

/** Maximum number of client tools of a request. */
const MAX_CLIENT_TOOLS = 128

/**
 * Tool that the client executes. A call of it is a review of the kind CLIENT_TOOL; the client decides the review with the
 * result of the call.
 */
export const ClientToolBody = Type.Object(
  {
    /** Name of the tool: 1 to 64 letters, digits, `_` and `-`. Tools of the tasks cannot have the same name. */
    name: NonBlank,
    /** Description of the tool, for models. */
    description: Type.Optional(NonBlank),
    /** JSON Schema of the arguments, an object. */
    inputSchema: JsonObject,
    /**
     * Maximum time to wait for a result, in milliseconds, up to 100 years; 0 means no limit, a day when absent. Then the
     * call fails.
     */
    timeoutMs: Type.Optional(DurationMs),
  },
  CLOSED,
)
export type ClientToolBody = Static<typeof ClientToolBody>

/** Fields of a submission, shared by the REST body and the `run_request` message. */
export const submitRunFields = {
  /** Values of the template variables. */
  inputs: Type.Optional(StringMap),
  /** Tasks to run instead of the ensemble's. */
  tasks: Type.Optional(Type.Array(RequestedTaskBody, { minItems: 1, maxItems: MAX_REQUEST_TASKS })),
  /** Changes by task name, or by the start of a task description. */
  taskOverrides: Type.Optional(
    mapOf(TaskOverrideBody, { minProperties: 1, maxProperties: MAX_REQUEST_TASKS }),
  ),
  /** Settings of the run. */
  options: Type.Optional(RunOptionsBody),
  /** Limits of the run; a run that exceeds one fails and keeps its results. */
  budget: Type.Optional(RunBudgetBody),
  /** Metadata by which the run can be found. */
  tags: Type.Optional(TagMap),
  /** Name of the ensemble; the first one when absent. */
  ensemble: Type.Optional(NonBlank),
  /** Id chosen by the client; the server generates one when absent. */
  runId: Type.Optional(RunId),
  /** Build that executes the run, which must live; chosen by the shares of the builds when absent. */
  build: Type.Optional(NonBlank),
  /** Messages of the conversation before this run, oldest first. Every agent of the run gets them. */
  history: Type.Optional(Type.Array(HistoryMessage, { maxItems: MAX_HISTORY_MESSAGES })),
  /** Tools that the client executes. Every agent of the run may call them. */
  clientTools: Type.Optional(Type.Array(ClientToolBody, { maxItems: MAX_CLIENT_TOOLS })),
  /**
   * Id of an existing thread: the run becomes its next one, and its agents get the messages of the earlier runs. Cannot be
   * combined with `history`.
   */
  threadId: Type.Optional(RunId),
  /** Names of registered webhooks that are notified of the run. */
  webhooks: Type.Optional(Type.Array(NonBlank, { uniqueItems: true, maxItems: MAX_WEBHOOKS })),
  /** Time before which the run does not start, at most 366 days ahead. A time in the past starts it at once. */
  startAt: Type.Optional(Instant),
  /** The same as a delay in milliseconds, up to 366 days. Cannot be combined with `startAt`. */
  startAfterMs: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_START_DELAY_MS })),
  ...queueFields,
}

/** Body of `POST /api/runs`. */
export const SubmitRunBody = Type.Object(submitRunFields, CLOSED)
export type SubmitRunBody = Static<typeof SubmitRunBody>

/** Query of `POST /api/runs`. */
export const SubmitRunQuery = Type.Object(
  {
    /**
     * Seconds to wait for the end of the run. The response is 200 with the run if it ends in time, else 202. The run
     * continues when the caller disconnects.
     */
    wait: Type.Optional(Type.Integer({ minimum: 0, maximum: 600 })),
    /** Event types to stream, separated by commas; all when absent. Only with `Accept: text/event-stream`. */
    events: Type.Optional(Type.String({ minLength: 1 })),
    /**
     * With `omit`, each long text is sent once; events that repeat it refer to it in `repeats`. Only with
     * `Accept: text/event-stream`.
     */
    repeats: Type.Optional(RepeatsOption),
  },
  CLOSED,
)
export type SubmitRunQuery = Static<typeof SubmitRunQuery>

/** Response 202 of `POST /api/runs`: the run is queued. */
export const RunAccepted = Type.Object({
  /** Id of the run. */
  runId: Type.String(),
  status: Type.Literal('ACCEPTED'),
  /** Number of tasks. */
  tasks: Count,
  workflow: Workflow,
  /** Time before which the run does not start; absent for a run that may start at once. */
  startAt: Type.Optional(Instant),
})
export type RunAccepted = Static<typeof RunAccepted>
