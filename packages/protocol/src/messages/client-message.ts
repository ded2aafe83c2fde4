/** Messages that a client sends over a WebSocket. All reject unknown keys. */
import Type from 'typebox'
import { COMMANDS, RUN_COMMAND_KINDS } from '../commands.ts'
import { MigrateRunBody } from '../schemas/rest/builds.ts'
import { RepeatsOption } from '../schemas/repeats.ts'
import { CompareRunsQuery } from '../schemas/rest/compare-runs.ts'
import { ForkRunBody } from '../schemas/rest/fork-run.ts'
import { ReplayRunBody } from '../schemas/rest/replay-run.ts'
import { ListRunsQuery } from '../schemas/rest/runs.ts'
import { submitRunFields } from '../schemas/rest/submit-run.ts'
import {
  CLOSED,
  IdempotencyKey,
  JsonObject,
  LogPosition,
  NonBlank,
  RequestId,
  requiredWhen,
} from '../schemas/scalars.ts'
import { DirectiveMessage, ReviewDecision, RunControl } from './control-messages.ts'
import { CapabilityQuery, TaskRequest, ToolRequest, TraceContextFields } from './peer-requests.ts'
import { SERVER_MESSAGE_TYPES } from './server-message.ts'

import type { Static } from '../static.ts'

/** Requests a `pong`. */
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
    /** Repeated in the reply. */
    requestId: Type.Optional(RequestId),
    /** Message types; empty or with `*` for all. */
    events: Type.Array(Type.Enum(['*', ...SERVER_MESSAGE_TYPES])),
    /** Only messages of this run; all runs when absent. */
    runId: Type.Optional(NonBlank),
    /** First `seq` to send from the run's log; a negative number counts from the end. Only new events when absent. */
    from: Type.Optional(LogPosition),
    /** With `omit`, each long text is sent once; events that repeat it refer to it in `repeats`. Requires `from`. */
    repeats: Type.Optional(RepeatsOption),
  },
  CLOSED,
)
export type Subscribe = Static<typeof Subscribe>

/** Bodies by command: each must match that of the command's REST route. */
const COMMAND_BODIES = Object.values(COMMANDS).reduceRight<Type.TObjectOptions>(
  (otherwise, { command, route }) => ({
    if: Type.Object({ command: command.properties.kind }),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
    then: Type.Object({ body: 'bodyOptional' in route ? Type.Optional(route.body) : route.body }),
    else: otherwise,
  }),
  {},
)

/** Sends a command to a run, or decides a review, like the command's REST route. The reply is a `command_ack`. */
export const CommandMessage = Type.Object(
  {
    type: Type.Literal('command'),
    /** Repeated in the reply. */
    requestId: RequestId,
    command: Type.Enum(RUN_COMMAND_KINDS),
    /** Id of the run; for `decide`, id of the review. */
    target: NonBlank,
    /** Body of the REST route; optional where it is optional there. */
    body: Type.Optional(JsonObject),
  },
  { ...CLOSED, ...COMMAND_BODIES },
)
export type CommandMessage = Static<typeof CommandMessage>

/** Message from client to server. Narrows by `type`. */
export const ClientMessage = Type.Union([
  ReviewDecision,
  Ping,
  RunRequest,
  RunFork,
  RunReplay,
  RunMigrate,
  CommandMessage,
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
