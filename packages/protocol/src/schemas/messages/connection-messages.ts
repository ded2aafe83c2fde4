/** Server → client: the greeting and keep-alives of one connection, and directive replies. */
import Type from 'typebox'
import { LlmIterationCompleted, LlmIterationStarted } from '../events/agent-events.ts'
import { EventPosition, LoggedRunEvent } from '../run-event.ts'
import { Instant } from '../scalars.ts'
import { SharedCapability } from '../shared-capability.ts'

/** Where the event stands in the log of its run; AgentEnsemble's have no such place. */
const maybePosition = Type.Partial(EventPosition)

/** A model turn for late joiners; without `completed` while it is under way. AgentEnsemble wire. */
export const IterationSnapshot = Type.Object({
  started: Type.Intersect([LlmIterationStarted, maybePosition]),
  completed: Type.Optional(Type.Intersect([LlmIterationCompleted, maybePosition])),
})
export type IterationSnapshot = Type.Static<typeof IterationSnapshot>

/** The first message on every connection; only `type` when nothing has run. AgentEnsemble wire. */
export const Hello = Type.Object({
  type: Type.Literal('hello'),
  ensembleId: Type.Optional(Type.String()),
  startedAt: Type.Optional(Instant),
  /** Events of the runs so far, in order, without tokens, model turns and reviews. */
  snapshotTrace: Type.Optional(Type.Array(LoggedRunEvent)),
  sharedCapabilities: Type.Optional(Type.Array(SharedCapability)),
  recentIterations: Type.Optional(Type.Array(IterationSnapshot)),
})
export type Hello = Type.Static<typeof Hello>

/** Sent to everybody every 15 s. AgentEnsemble wire. */
export const Heartbeat = Type.Object({
  type: Type.Literal('heartbeat'),
  /** Milliseconds since 1970 by the server's clock. */
  serverTimeMs: Type.Integer(),
})
export type Heartbeat = Type.Static<typeof Heartbeat>

/** Reply to `ping`. AgentEnsemble wire. */
export const Pong = Type.Object({ type: Type.Literal('pong') })
export type Pong = Type.Static<typeof Pong>

/** Reply to `directive`; `accepted` is lower case on AgentEnsemble's wire. `message` is ours. */
export const DirectiveAck = Type.Object({
  type: Type.Literal('directive_ack'),
  /** Null when it was refused. */
  directiveId: Type.Union([Type.String(), Type.Null()]),
  status: Type.Enum(['accepted', 'REJECTED']),
  message: Type.Optional(Type.String()),
})
export type DirectiveAck = Type.Static<typeof DirectiveAck>
