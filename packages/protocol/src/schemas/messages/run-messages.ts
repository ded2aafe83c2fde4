/** Messages from server to client: replies to run requests, run control, state queries and subscriptions. */
import Type from 'typebox'
import { Workflow } from '../enums.ts'
import { ErrorCodeName, errorFields } from '../error-body.ts'
import { Problem } from '../problem.ts'
import { BuildList, RunMigrated } from '../rest/builds.ts'
import { Capabilities } from '../rest/capabilities.ts'
import { RunComparison } from '../rest/compare-runs.ts'
import { ForkPreview } from '../rest/fork-run.ts'
import { ReviewDecisionApplied } from '../rest/reviews.ts'
import { RunDetail, RunList } from '../rest/runs.ts'
import { Count, DurationMs } from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Reply to `run_request`, `run_fork` and `run_replay`. AgentEnsemble wire format. */
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
  /** Every invalid place of the request; present when validation failed. */
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

/** Reply to `review_decision`, with the REST response. */
export const ReviewDecisionAck = Type.Object({
  type: Type.Literal('review_decision_ack'),
  ...ReviewDecisionApplied.properties,
})
export type ReviewDecisionAck = Static<typeof ReviewDecisionAck>

/** Reply to `run_control`; subscribers also get it for commands of other clients. AgentEnsemble wire format. */
export const RunControlAck = Type.Object({
  type: Type.Literal('run_control_ack'),
  /** Id of the run. */
  runId: Type.String(),
  action: Type.String(),
  status: Type.Enum([
    'CANCELLING',
    'CANCELLED',
    'APPLIED',
    'REJECTED',
    'NOT_FOUND',
    'NOT_RUNNING',
    'INVALID_MODEL',
    'INVALID_ACTION',
    'NOT_CONFIGURED',
  ]),
  /** Alias of the new model. */
  model: Type.Optional(Type.String()),
  /** Alias of the model before. */
  previousModel: Type.Optional(Type.String()),
  /** The tier, when one was requested. */
  tier: Type.Optional(Type.String()),
  /** Readable reason of a rejection. */
  message: Type.Optional(Type.String()),
})
export type RunControlAck = Static<typeof RunControlAck>

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
  /** Message types; empty for all. */
  events: Type.Array(Type.String()),
  /** Only messages of this run; all runs when absent. */
  runId: Type.Optional(Type.String()),
  /** `seq` of the first event that will be sent; present when a position was requested. */
  from: Type.Optional(Count),
})
export type SubscribeAck = Static<typeof SubscribeAck>

/** The server rejected a message of the client. AgentEnsemble does not reply to such messages. */
export const ErrorMessage = Type.Object({ type: Type.Literal('error'), ...errorFields })
export type ErrorMessage = Static<typeof ErrorMessage>
