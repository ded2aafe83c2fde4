/** Messages from client to server: requests of one ensemble to another. */
import Type from 'typebox'
import { MAX_DURATION_MS } from '../limits.ts'
import { Priority } from '../schemas/enums.ts'
import { CLOSED, IsoDuration, NonBlank, RequestId } from '../schemas/scalars.ts'
import { CapabilityType } from '../schemas/shared-capability.ts'

import type { Static } from '../static.ts'

/** W3C trace context, as in the headers of the same names. */
export const TraceContextFields = Type.Object(
  { traceparent: Type.String(), tracestate: Type.Optional(Type.String()) },
  CLOSED,
)
export type TraceContextFields = Static<typeof TraceContextFields>

const peerRequest = {
  /** Identifies the request in replies; a repeated request has no further effect. */
  requestId: RequestId,
}

/** Name of the ensemble that sends the request. */
const from = NonBlank

/** Delivery of a result; WEBSOCKET when absent. */
export const DeliverySpec = Type.Object(
  {
    method: Type.Enum([
      'WEBSOCKET',
      'QUEUE',
      'TOPIC',
      'WEBHOOK',
      'STORE',
      'BROADCAST_CLAIM',
      'NONE',
    ]),
    address: Type.Optional(Type.String()),
  },
  CLOSED,
)
export type DeliverySpec = Static<typeof DeliverySpec>

/** Requests a shared task. */
export const TaskRequest = Type.Object(
  {
    type: Type.Literal('task_request'),
    ...peerRequest,
    from,
    /** Name of the task. */
    task: NonBlank,
    /** Input for the task, in natural language. */
    context: Type.Optional(Type.String()),
    priority: Type.Optional(Priority),
    /** Time from now until the result is needed, up to 100 years. */
    deadline: Type.Optional(IsoDuration),
    delivery: Type.Optional(DeliverySpec),
    traceContext: Type.Optional(TraceContextFields),
    cachePolicy: Type.Optional(Type.Enum(['USE_CACHED', 'FORCE_FRESH'])),
    cacheKey: Type.Optional(Type.String()),
    /** Maximum age of a cached result, up to 100 years: a duration, or seconds. */
    maxAge: Type.Optional(
      Type.Union([IsoDuration, Type.Number({ minimum: 0, maximum: MAX_DURATION_MS / 1_000 })]),
    ),
  },
  CLOSED,
)
export type TaskRequest = Static<typeof TaskRequest>

/** Requests one call of a shared tool. */
export const ToolRequest = Type.Object(
  {
    type: Type.Literal('tool_request'),
    ...peerRequest,
    /** Absent for a client that is not an ensemble. */
    from: Type.Optional(from),
    /** Name of the tool. */
    tool: NonBlank,
    /** Input of the tool. */
    input: Type.Optional(Type.String()),
    traceContext: Type.Optional(TraceContextFields),
  },
  CLOSED,
)
export type ToolRequest = Static<typeof ToolRequest>

/** Requests the list of shared capabilities. */
export const CapabilityQuery = Type.Object(
  {
    type: Type.Literal('capability_query'),
    ...peerRequest,
    /** Absent for a client that is not an ensemble. */
    from: Type.Optional(from),
    /** Only capabilities of this name. */
    toolName: Type.Optional(Type.String()),
    /** Only capabilities with this tag. */
    tag: Type.Optional(Type.String()),
    /** Only capabilities of this kind. */
    capabilityType: Type.Optional(CapabilityType),
  },
  CLOSED,
)
export type CapabilityQuery = Static<typeof CapabilityQuery>
