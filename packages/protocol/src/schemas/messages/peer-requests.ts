/** Client → server: what one ensemble asks of another. AgentEnsemble's network wire. */
import Type from 'typebox'
import { Priority } from '../enums.ts'
import { CLOSED, IsoDuration, NonBlank, RequestId } from '../scalars.ts'
import { CapabilityType } from '../shared-capability.ts'

/** W3C trace context, as two headers would carry it. */
export const TraceContextFields = Type.Object(
  { traceparent: Type.String(), tracestate: Type.Optional(Type.String()) },
  CLOSED,
)
export type TraceContextFields = Type.Static<typeof TraceContextFields>

const peerRequest = {
  /** Correlates the reply, and makes a repeat harmless. */
  requestId: RequestId,
  /** Name of the ensemble that asks. */
  from: NonBlank,
}

/** Where a result should go; WEBSOCKET when absent. */
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
export type DeliverySpec = Type.Static<typeof DeliverySpec>

/** Asks for a shared task. */
export const TaskRequest = Type.Object(
  {
    type: Type.Literal('task_request'),
    ...peerRequest,
    task: NonBlank,
    /** Input for the task, in natural language. */
    context: Type.Optional(Type.String()),
    priority: Type.Optional(Priority),
    /** By when the caller needs it, from now. */
    deadline: Type.Optional(IsoDuration),
    delivery: Type.Optional(DeliverySpec),
    traceContext: Type.Optional(TraceContextFields),
    cachePolicy: Type.Optional(Type.Enum(['USE_CACHED', 'FORCE_FRESH'])),
    cacheKey: Type.Optional(Type.String()),
    /** How old a cached result may be: a duration, or seconds as AgentEnsemble's serializer writes it. */
    maxAge: Type.Optional(Type.Union([IsoDuration, Type.Number({ minimum: 0 })])),
  },
  CLOSED,
)
export type TaskRequest = Type.Static<typeof TaskRequest>

/** Asks for one call of a shared tool. */
export const ToolRequest = Type.Object(
  {
    type: Type.Literal('tool_request'),
    ...peerRequest,
    tool: NonBlank,
    input: Type.Optional(Type.String()),
    traceContext: Type.Optional(TraceContextFields),
  },
  CLOSED,
)
export type ToolRequest = Type.Static<typeof ToolRequest>

/** Asks what is shared. */
export const CapabilityQuery = Type.Object(
  {
    type: Type.Literal('capability_query'),
    ...peerRequest,
    toolName: Type.Optional(Type.String()),
    tag: Type.Optional(Type.String()),
    capabilityType: Type.Optional(CapabilityType),
  },
  CLOSED,
)
export type CapabilityQuery = Type.Static<typeof CapabilityQuery>
