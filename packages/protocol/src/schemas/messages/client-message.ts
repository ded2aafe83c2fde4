/** Everything that a client sends over a WebSocket, in one union. All closed: an unknown key is named. */
import Type from 'typebox'
import { CancelMode, Priority } from '../enums.ts'
import { EDIT_NEEDS_TEXT, reviewDecisionFields } from '../rest/reviews.ts'
import { MODEL_OR_TIER } from '../rest/run-control.ts'
import { ListRunsQuery } from '../rest/runs.ts'
import { submitRunFields } from '../rest/submit-run.ts'
import {
  CLOSED,
  IdempotencyKey,
  IsoDuration,
  NonBlank,
  RequestId,
  requiredWhen,
} from '../scalars.ts'
import { CapabilityQuery, TaskRequest, ToolRequest, TraceContextFields } from './peer-requests.ts'
import { SERVER_MESSAGE_TYPES } from './server-message.ts'

/** Decides a review; the twin of `POST /api/reviews/{reviewId}`. AgentEnsemble wire. */
export const ReviewDecision = Type.Object(
  { type: Type.Literal('review_decision'), reviewId: NonBlank, ...reviewDecisionFields },
  { ...CLOSED, ...EDIT_NEEDS_TEXT },
)
export type ReviewDecision = Type.Static<typeof ReviewDecision>

/** Asks for a `pong`. AgentEnsemble wire. */
export const Ping = Type.Object({ type: Type.Literal('ping') }, CLOSED)
export type Ping = Type.Static<typeof Ping>

/** Submits a run; the twin of `POST /api/runs`. Control API seed §4.1. */
export const RunRequest = Type.Object(
  {
    type: Type.Literal('run_request'),
    /** Comes back in `run_ack`. */
    requestId: Type.Optional(RequestId),
    ...submitRunFields,
    /** What the header `Idempotency-Key` says over REST. Ours. */
    idempotencyKey: Type.Optional(IdempotencyKey),
    /** What the headers `traceparent` and `tracestate` say over REST. Ours. */
    traceContext: Type.Optional(TraceContextFields),
  },
  CLOSED,
)
export type RunRequest = Type.Static<typeof RunRequest>

/** Cancels a run or switches its model. Control API seed §4.2; `mode`, `tier` and `taskName` are ours. */
export const RunControl = Type.Object(
  {
    type: Type.Literal('run_control'),
    runId: NonBlank,
    action: Type.Enum(['cancel', 'switch_model']),
    /** Alias of a model in the catalog; to switch, it or `tier` is needed. */
    model: Type.Optional(NonBlank),
    /** Name of a tier of models, in place of `model`. */
    tier: Type.Optional(NonBlank),
    /** How to cancel; `abort` when absent. */
    mode: Type.Optional(CancelMode),
    /** Name of the one task that switches; the whole run when absent. */
    taskName: Type.Optional(NonBlank),
  },
  {
    ...CLOSED,
    if: Type.Object({ action: Type.Literal('switch_model') }),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
    then: MODEL_OR_TIER,
  },
)
export type RunControl = Type.Static<typeof RunControl>

/** Asks for runs, one run or the capabilities, as the REST routes give them. Control API seed §4.3. */
export const StateQuery = Type.Object(
  {
    type: Type.Literal('state_query'),
    requestId: RequestId,
    query: Type.Enum(['runs', 'run_detail', 'capabilities']),
    /** Needed for `run_detail`. */
    runId: Type.Optional(NonBlank),
    /** For `runs`. */
    filter: Type.Optional(ListRunsQuery),
  },
  {
    ...CLOSED,
    ...requiredWhen('query', 'run_detail', 'runId'),
  },
)
export type StateQuery = Type.Static<typeof StateQuery>

/** Chooses which messages this connection gets. Control API seed §4.5; `from` is ours. */
export const Subscribe = Type.Object(
  {
    type: Type.Literal('subscribe'),
    /** Message types; empty or with `*` for all. */
    events: Type.Array(Type.Enum(['*', ...SERVER_MESSAGE_TYPES])),
    runId: Type.Optional(NonBlank),
    /** First `seq` to send of the run's log; negative counts from the end, absent means from now on. */
    from: Type.Optional(Type.Integer()),
  },
  CLOSED,
)
export type Subscribe = Type.Static<typeof Subscribe>

/** Tells running agents something, or acts on the ensemble. AgentEnsemble wire; the last two are ours. */
export const DirectiveMessage = Type.Object(
  {
    type: Type.Literal('directive'),
    /** Task name, agent role or ensemble that is meant. */
    to: Type.Optional(Type.String()),
    from: Type.Optional(Type.String()),
    /** What agents are told. */
    content: Type.Optional(Type.String()),
    /** Action: SET_MODEL_TIER with the tier `value`, or APPLY_PROFILE with the profile `value`. */
    action: Type.Optional(Type.String()),
    value: Type.Optional(Type.String()),
    ttl: Type.Optional(IsoDuration),
    /** The run that is meant; every running one when absent. */
    runId: Type.Optional(NonBlank),
    priority: Type.Optional(Priority),
  },
  CLOSED,
)
export type DirectiveMessage = Type.Static<typeof DirectiveMessage>

/** Any message from client to server. Narrows by `type`. */
export const ClientMessage = Type.Union([
  ReviewDecision,
  Ping,
  RunRequest,
  RunControl,
  StateQuery,
  Subscribe,
  DirectiveMessage,
  TaskRequest,
  ToolRequest,
  CapabilityQuery,
])
export type ClientMessage = Type.Static<typeof ClientMessage>

/** The `type` of every client message, in the order of the union. */
export const CLIENT_MESSAGE_TYPES: readonly ClientMessage['type'][] = ClientMessage.anyOf.map(
  (member) => member.properties.type.const,
)
