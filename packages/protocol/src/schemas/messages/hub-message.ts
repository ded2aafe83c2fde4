/**
 * Messages of AgentEnsemble's separate hub server, which gathers the events of several processes.
 * Our server does not send them; they are here for programs that read a hub.
 */
import Type from 'typebox'
import { Count, Instant, JsonObject, mapOf, NonBlank, StringMap } from '../scalars.ts'
import { IterationSnapshot } from './connection-messages.ts'

/** A process that publishes its events into a hub. */
export const ProducerInfo = Type.Object({
  producerId: NonBlank,
  serviceName: Type.Optional(Type.String()),
  instanceId: Type.Optional(Type.String()),
  host: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  tags: Type.Optional(StringMap),
})
export type ProducerInfo = Type.Static<typeof ProducerInfo>

/** One message of a producer with its origin. The inner message may be newer than its reader. */
export const HubEvent = Type.Object({
  type: Type.Literal('event'),
  producer: ProducerInfo,
  /** Counted by the producer; a gap means a loss. */
  sequence: Count,
  receivedAt: Type.Optional(Instant),
  message: JsonObject,
})
export type HubEvent = Type.Static<typeof HubEvent>

/** A hub's first message on every connection. */
export const HubHello = Type.Object({
  type: Type.Literal('hub_hello'),
  producers: Type.Optional(Type.Array(ProducerInfo)),
  snapshotTrace: Type.Optional(Type.Array(HubEvent)),
  /** Producer id → its recent model turns. */
  iterationsByProducer: Type.Optional(mapOf(Type.Array(IterationSnapshot))),
})
export type HubHello = Type.Static<typeof HubHello>

/** A producer connected. */
export const ProducerJoined = Type.Object({
  type: Type.Literal('producer_joined'),
  producer: ProducerInfo,
  joinedAt: Instant,
})
export type ProducerJoined = Type.Static<typeof ProducerJoined>

/** A producer went away. */
export const ProducerLeft = Type.Object({
  type: Type.Literal('producer_left'),
  producerId: Type.String(),
  leftAt: Instant,
  reason: Type.Optional(Type.String()),
})
export type ProducerLeft = Type.Static<typeof ProducerLeft>

/** Any message of a hub. Narrows by `type`. */
export const HubMessage = Type.Union([HubHello, HubEvent, ProducerJoined, ProducerLeft])
export type HubMessage = Type.Static<typeof HubMessage>
