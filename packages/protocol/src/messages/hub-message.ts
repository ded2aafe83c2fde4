/**
 * Messages of a separate hub server, which collects the events of several processes. The server of Tutti
 * does not send them; they are for readers of a hub.
 */
import Type from 'typebox'
import { Count, Instant, JsonObject, mapOf, NonBlank, StringMap } from '../schemas/scalars.ts'
import { IterationSnapshot } from './connection-messages.ts'

import type { Static } from '../static.ts'

/** Process that publishes its events to a hub. */
export const ProducerInfo = Type.Object({
  producerId: NonBlank,
  serviceName: Type.Optional(Type.String()),
  instanceId: Type.Optional(Type.String()),
  host: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  tags: Type.Optional(StringMap),
})
export type ProducerInfo = Static<typeof ProducerInfo>

/** Message of a producer with its origin. The inner message can be newer than its reader. */
export const HubEvent = Type.Object({
  type: Type.Literal('event'),
  producer: ProducerInfo,
  /** Number of the message, counted by the producer; a gap means a loss. */
  sequence: Count,
  receivedAt: Type.Optional(Instant),
  message: JsonObject,
})
export type HubEvent = Static<typeof HubEvent>

/** First message of a hub on every connection. */
export const HubHello = Type.Object({
  type: Type.Literal('hub_hello'),
  producers: Type.Optional(Type.Array(ProducerInfo)),
  snapshotTrace: Type.Optional(Type.Array(HubEvent)),
  /** Recent model turns by id of the producer. */
  iterationsByProducer: Type.Optional(mapOf(Type.Array(IterationSnapshot))),
})
export type HubHello = Static<typeof HubHello>

/** A producer connected. */
export const ProducerJoined = Type.Object({
  type: Type.Literal('producer_joined'),
  producer: ProducerInfo,
  joinedAt: Instant,
})
export type ProducerJoined = Static<typeof ProducerJoined>

/** A producer disconnected. */
export const ProducerLeft = Type.Object({
  type: Type.Literal('producer_left'),
  producerId: Type.String(),
  leftAt: Instant,
  reason: Type.Optional(Type.String()),
})
export type ProducerLeft = Static<typeof ProducerLeft>

/** Message of a hub. Narrows by `type`. */
export const HubMessage = Type.Union([HubHello, HubEvent, ProducerJoined, ProducerLeft])
export type HubMessage = Static<typeof HubMessage>
