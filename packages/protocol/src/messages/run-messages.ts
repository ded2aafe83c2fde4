/** Messages from server to client: replies to run requests, commands, state queries and subscriptions. */
import Type from 'typebox'
import {
  COMMANDS,
  RUN_COMMAND_KINDS,
  type CommandResponse,
  type RunCommandKind,
} from '../commands.ts'
import { Workflow } from '../schemas/enums.ts'
import { ErrorCodeName, errorFields } from '../schemas/error-body.ts'
import { Problem } from '../schemas/problem.ts'
import { BuildList, RunMigrated } from '../schemas/rest/builds.ts'
import { Capabilities } from '../schemas/rest/capabilities.ts'
import { RunComparison } from '../schemas/rest/compare-runs.ts'
import { ForkPreview } from '../schemas/rest/fork-run.ts'
import { RunDetail, RunList } from '../schemas/rest/runs.ts'
import { Count, DurationMs } from '../schemas/scalars.ts'

import type { Static } from '../static.ts'

/** Reply to `run_request`, `run_fork` and `run_replay`. */
export const RunAck = Type.Object({
  type: Type.Literal('run_ack'),
  /** The request's id. */
  requestId: Type.Optional(Type.String()),
  /** Id of the run; absent when the request was rejected. */
  runId: Type.Optional(Type.String()),
  status: Type.Enum(['ACCEPTED', 'REJECTED']),
  /** Number of tasks. */
  tasks: Count,
  workflow: Type.Optional(Workflow),
  /** Reason of the rejection. */
  error: Type.Optional(ErrorCodeName),
  /** Readable reason of the rejection. */
  message: Type.Optional(Type.String()),
  /** Every invalid value in the request; present when validation failed. */
  problems: Type.Optional(Type.Array(Problem)),
  /** Milliseconds to wait before a retry; absent when a retry does not help. */
  retryAfterMs: Type.Optional(DurationMs),
})
export type RunAck = Static<typeof RunAck>

/** Reply to `run_fork` with `preview`: what the fork would do. */
export const ForkPreviewed = Type.Object({
  type: Type.Literal('fork_previewed'),
  /** The request's id. */
  requestId: Type.Optional(Type.String()),
  preview: ForkPreview,
})
export type ForkPreviewed = Static<typeof ForkPreviewed>

/** Reply to `run_migrate`, with the REST response. */
export const RunMigrateAck = Type.Object({
  type: Type.Literal('run_migrate_ack'),
  /** The request's id. */
  requestId: Type.Optional(Type.String()),
  ...RunMigrated.properties,
})
export type RunMigrateAck = Static<typeof RunMigrateAck>

/** Reply to `command`, with the REST response. */
export const CommandAck = Type.Object({
  type: Type.Literal('command_ack'),
  /** The request's id. */
  requestId: Type.String(),
  command: Type.Enum(RUN_COMMAND_KINDS),
  response: Type.Unsafe<CommandResponse<RunCommandKind>>(
    Type.Union(Object.values(COMMANDS).map(({ route }) => route.response)),
  ),
})
export type CommandAck = Static<typeof CommandAck>

/** Reply to `state_query`, in the form of the REST response of that name. */
export const StateResponse = Type.Object({
  type: Type.Literal('state_response'),
  /** The request's id. */
  requestId: Type.String(),
  data: Type.Union([RunList, RunDetail, RunComparison, BuildList, Capabilities]),
})
export type StateResponse = Static<typeof StateResponse>

/** Reply to `subscribe`: the subscription that is now in effect. */
export const SubscribeAck = Type.Object({
  type: Type.Literal('subscribe_ack'),
  /** The request's id. */
  requestId: Type.Optional(Type.String()),
  /** Message types; empty for all. */
  events: Type.Array(Type.String()),
  /** Only messages of this run; all runs when absent. */
  runId: Type.Optional(Type.String()),
  /** `seq` of the first event that will be sent; present when a position was requested. */
  from: Type.Optional(Count),
})
export type SubscribeAck = Static<typeof SubscribeAck>

/** The server rejected a message of the client. */
export const ErrorMessage = Type.Object({ type: Type.Literal('error'), ...errorFields })
export type ErrorMessage = Static<typeof ErrorMessage>
