/** Messages that a client sends over a WebSocket. All reject unknown keys. */
import Type from 'typebox'
import { CancelMode, Priority } from '../enums.ts'
import { MigrateRunBody } from '../rest/builds.ts'
import { CompareRunsQuery } from '../rest/compare-runs.ts'
import { ForkRunBody } from '../rest/fork-run.ts'
import { ReplayRunBody } from '../rest/replay-run.ts'
import { DECISION_RULES, reviewDecisionFields } from '../rest/reviews.ts'
import { MODEL_OR_TIER } from '../rest/run-control.ts'
import { ListRunsQuery } from '../rest/runs.ts'
import { submitRunFields } from '../rest/submit-run.ts'
import {
  CLOSED,
  IdempotencyKey,
  IsoDuration,
  LogPosition,
  NonBlank,
  RequestId,
  requiredWhen,
} from '../scalars.ts'
import { CapabilityQuery, TaskRequest, ToolRequest, TraceContextFields } from './peer-requests.ts'
import { SERVER_MESSAGE_TYPES } from './server-message.ts'

import type { Static } from '../../static.ts'

/** Decides a review, like `POST /api/reviews/{reviewId}`. AgentEnsemble wire format. */
export const ReviewDecision = Type.Object(
  {
    type: Type.Literal('review_decision'),
    /** Id of the review. */
    reviewId: NonBlank,
    ...reviewDecisionFields,
  },
  { ...CLOSED, ...DECISION_RULES },
)
export type ReviewDecision = Static<typeof ReviewDecision>

/** Requests a `pong`. AgentEnsemble wire format. */
export const Ping = Type.Object({ type: Type.Literal('ping') }, CLOSED)
export type Ping = Static<typeof Ping>

/** Submits a run, like `POST /api/runs`. */
export const RunRequest = Type.Object(
  {
    type: Type.Literal('run_request'),
    /** Repeated in `run_ack`. */
    requestId: Type.Optional(RequestId),
    ...submitRunFields,
    /** Key that identifies the submission, like the header `Idempotency-Key` over REST. */
    idempotencyKey: Type.Optional(IdempotencyKey),
    /** W3C trace context, like the headers `traceparent` and `tracestate` over REST. */
    traceContext: Type.Optional(TraceContextFields),
  },
  CLOSED,
)
export type RunRequest = Static<typeof RunRequest>

/** Forks a run, like `POST /api/runs/{runId}/fork`. */
export const RunFork = Type.Object(
  {
    type: Type.Literal('run_fork'),
    /** Repeated in the reply. */
    requestId: Type.Optional(RequestId),
    /** Id of the run to fork; `runId` is that of the fork. */
    parentRunId: NonBlank,
    ...ForkRunBody.properties,
    /** Key that identifies the submission, like the header `Idempotency-Key` over REST. */
    idempotencyKey: Type.Optional(IdempotencyKey),
    /** W3C trace context, like the headers `traceparent` and `tracestate` over REST. */
    traceContext: Type.Optional(TraceContextFields),
  },
  CLOSED,
)
export type RunFork = Static<typeof RunFork>

/** Replays a run, like `POST /api/runs/{runId}/replay`. */
export const RunReplay = Type.Object(
  {
    type: Type.Literal('run_replay'),
    /** Repeated in the reply. */
    requestId: Type.Optional(RequestId),
    /** Id of the run to replay; `runId` is that of the replay. */
    parentRunId: NonBlank,
    ...ReplayRunBody.properties,
    /** Key that identifies the submission, like the header `Idempotency-Key` over REST. */
    idempotencyKey: Type.Optional(IdempotencyKey),
    /** W3C trace context, like the headers `traceparent` and `tracestate` over REST. */
    traceContext: Type.Optional(TraceContextFields),
  },
  CLOSED,
)
export type RunReplay = Static<typeof RunReplay>

/** Moves a run that waits to the code of another build, like `POST /api/runs/{runId}/migrate`. */
export const RunMigrate = Type.Object(
  {
    type: Type.Literal('run_migrate'),
    /** Repeated in the reply. */
    requestId: Type.Optional(RequestId),
    /** Id of the run. */
    runId: NonBlank,
    ...MigrateRunBody.properties,
  },
  CLOSED,
)
export type RunMigrate = Static<typeof RunMigrate>

/** Cancels a run or switches its model. */
export const RunControl = Type.Object(
  {
    type: Type.Literal('run_control'),
    /** Id of the run. */
    runId: NonBlank,
    action: Type.Enum(['cancel', 'switch_model']),
    /** Alias of a model in the catalog; `switch_model` requires either it or `tier`. */
    model: Type.Optional(NonBlank),
    /** Name of a model tier; used instead of `model`. */
    tier: Type.Optional(NonBlank),
    /** `abort` when absent. */
    mode: Type.Optional(CancelMode),
    /** Name of the only task that switches; the whole run when absent. */
    taskName: Type.Optional(NonBlank),
  },
  {
    ...CLOSED,
    if: Type.Object({ action: Type.Literal('switch_model') }),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
    then: MODEL_OR_TIER,
  },
)
export type RunControl = Static<typeof RunControl>

/** Requests runs, one run, a comparison, the builds or the capabilities, in the form of the REST responses. */
export const StateQuery = Type.Object(
  {
    type: Type.Literal('state_query'),
    /** Repeated in the reply. */
    requestId: RequestId,
    query: Type.Enum(['runs', 'run_detail', 'comparison', 'builds', 'capabilities']),
    /** Id of the run; required for `run_detail`. */
    runId: Type.Optional(NonBlank),
    /** Filter for `runs`. */
    filter: Type.Optional(ListRunsQuery),
    /** Runs to compare; required for `comparison`. */
    compare: Type.Optional(CompareRunsQuery),
  },
  {
    ...CLOSED,
    ...requiredWhen('query', 'run_detail', 'runId'),
    else: requiredWhen('query', 'comparison', 'compare'),
  },
)
export type StateQuery = Static<typeof StateQuery>

/** Selects the messages that this connection gets. */
export const Subscribe = Type.Object(
  {
    type: Type.Literal('subscribe'),
    /** Message types; empty or with `*` for all. */
    events: Type.Array(Type.Enum(['*', ...SERVER_MESSAGE_TYPES])),
    /** Only messages of this run; all runs when absent. */
    runId: Type.Optional(NonBlank),
    /** First `seq` to send from the run's log; a negative number counts from the end. Only new events when absent. */
    from: Type.Optional(LogPosition),
  },
  CLOSED,
)
export type Subscribe = Static<typeof Subscribe>

/** Sends a directive to running agents, or acts on the ensemble. AgentEnsemble wire format. */
export const DirectiveMessage = Type.Object(
  {
    type: Type.Literal('directive'),
    /** Task name, agent role or ensemble that gets the directive. */
    to: Type.Optional(Type.String()),
    /** Author, as shown to the agents. */
    from: Type.Optional(Type.String()),
    /** Text for the agents. */
    content: Type.Optional(Type.String()),
    /** Action: SET_MODEL_TIER with the tier `value`, or APPLY_PROFILE with the profile `value`. */
    action: Type.Optional(Type.String()),
    /** Argument of the action. */
    value: Type.Optional(Type.String()),
    /** Time to live, up to 100 years; until the run ends when absent. */
    ttl: Type.Optional(IsoDuration),
    /** Run that gets the directive; every running one when absent. */
    runId: Type.Optional(NonBlank),
    /** NORMAL when absent. */
    priority: Type.Optional(Priority),
  },
  CLOSED,
)
export type DirectiveMessage = Static<typeof DirectiveMessage>

/** Message from client to server. Narrows by `type`. */
export const ClientMessage = Type.Union([
  ReviewDecision,
  Ping,
  RunRequest,
  RunFork,
  RunReplay,
  RunMigrate,
  RunControl,
  StateQuery,
  Subscribe,
  DirectiveMessage,
  TaskRequest,
  ToolRequest,
  CapabilityQuery,
])
export type ClientMessage = Static<typeof ClientMessage>

/** The `type` of every client message, in the order of the union. */
export const CLIENT_MESSAGE_TYPES: readonly ClientMessage['type'][] = ClientMessage.anyOf.map(
  (member) => member.properties.type.const,
)
