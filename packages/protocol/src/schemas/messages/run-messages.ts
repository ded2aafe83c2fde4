/** Server → client: replies to run requests, run control, state queries and subscriptions. */
import Type from 'typebox'
import { Workflow } from '../enums.ts'
import { ErrorCodeName, errorFields } from '../error-body.ts'
import { Problem } from '../problem.ts'
import { Capabilities } from '../rest/capabilities.ts'
import { RunDetail, RunList } from '../rest/runs.ts'
import { Count, DurationMs } from '../scalars.ts'

/** Reply to `run_request`. AgentEnsemble wire; the reason of a refusal is ours. */
export const RunAck = Type.Object({
  type: Type.Literal('run_ack'),
  requestId: Type.Optional(Type.String()),
  /** Absent when the run was refused. */
  runId: Type.Optional(Type.String()),
  status: Type.Enum(['ACCEPTED', 'REJECTED']),
  tasks: Count,
  workflow: Type.Optional(Workflow),
  error: Type.Optional(ErrorCodeName),
  message: Type.Optional(Type.String()),
  problems: Type.Optional(Type.Array(Problem)),
  /** How long to wait before trying again, when that can help. Ours. */
  retryAfterMs: Type.Optional(DurationMs),
})
export type RunAck = Type.Static<typeof RunAck>

/** Reply to `run_control`, and what subscribers are told of commands of others. AgentEnsemble wire; `message` is ours. */
export const RunControlAck = Type.Object({
  type: Type.Literal('run_control_ack'),
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
  model: Type.Optional(Type.String()),
  previousModel: Type.Optional(Type.String()),
  /** The tier, when one was asked for. Ours. */
  tier: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
})
export type RunControlAck = Type.Static<typeof RunControlAck>

/** Reply to `state_query`: the same data as the REST answer of that name. Control API seed §4.3. */
export const StateResponse = Type.Object({
  type: Type.Literal('state_response'),
  requestId: Type.String(),
  data: Type.Union([RunList, RunDetail, Capabilities]),
})
export type StateResponse = Type.Static<typeof StateResponse>

/** Reply to `subscribe`: what is in force from now on. Control API seed §4.5; `from` is ours. */
export const SubscribeAck = Type.Object({
  type: Type.Literal('subscribe_ack'),
  events: Type.Array(Type.String()),
  runId: Type.Optional(Type.String()),
  /** `seq` of the first event that will be sent, when a position was asked for. */
  from: Type.Optional(Count),
})
export type SubscribeAck = Type.Static<typeof SubscribeAck>

/** A message of the client was refused. Ours: AgentEnsemble says nothing. */
export const ErrorMessage = Type.Object({ type: Type.Literal('error'), ...errorFields })
export type ErrorMessage = Type.Static<typeof ErrorMessage>
