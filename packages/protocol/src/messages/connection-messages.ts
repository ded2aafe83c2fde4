/** Messages from server to client: greeting and heartbeats. */
import Type from 'typebox'
import { LlmIterationCompleted, LlmIterationStarted } from '../schemas/events/agent-events.ts'
import { EventPosition, LoggedRunEvent } from '../schemas/run-event.ts'
import { Instant, TimeMs } from '../schemas/scalars.ts'
import { SharedCapability } from '../schemas/shared-capability.ts'

import type { Static } from '../static.ts'

/** Position of the event in the log of its run; absent on events of servers without a log. */
const maybePosition = Type.Partial(EventPosition)

/**
 * Model turn, for clients that connect during a run; without `completed` while it is in progress.
 */
export const IterationSnapshot = Type.Object({
  /** Start of the turn. */
  started: Type.Intersect([LlmIterationStarted, maybePosition]),
  /** End of the turn. */
  completed: Type.Optional(Type.Intersect([LlmIterationCompleted, maybePosition])),
})
export type IterationSnapshot = Static<typeof IterationSnapshot>

/** First message on every connection; it contains only `type` when no run has started. */
export const Hello = Type.Object({
  type: Type.Literal('hello'),
  /** Id of the newest run. */
  ensembleId: Type.Optional(Type.String()),
  /** Time at which the newest run started. */
  startedAt: Type.Optional(Instant),
  /** Events of the runs so far, in order, without tokens, model turns and reviews. */
  snapshotTrace: Type.Optional(Type.Array(LoggedRunEvent)),
  /** Tasks and tools that peers can request. */
  sharedCapabilities: Type.Optional(Type.Array(SharedCapability)),
  /** Recent model turns. */
  recentIterations: Type.Optional(Type.Array(IterationSnapshot)),
})
export type Hello = Static<typeof Hello>

/** Sent to every connection every 15 s. */
export const Heartbeat = Type.Object({
  type: Type.Literal('heartbeat'),
  /** Server's clock in milliseconds since 1970. */
  serverTimeMs: TimeMs,
})
export type Heartbeat = Static<typeof Heartbeat>

/** Reply to `ping`. */
export const Pong = Type.Object({ type: Type.Literal('pong') })
export type Pong = Static<typeof Pong>
