/** External events over REST. */
import Type from 'typebox'
import {
  CLOSED,
  ExternalEventKey,
  ExternalEventName,
  Instant,
  PositiveLimit,
  RequestId,
  RunId,
} from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Body of `POST /api/events/{name}`. */
export const SendEventBody = Type.Object(
  {
    /** Correlation key; only waits with the same key get the event. Absent: only waits without a key. */
    key: Type.Optional(ExternalEventKey),
    /** The only run whose waits get the event; the waits of all runs when absent. */
    runId: Type.Optional(RunId),
    /** Data, up to 262,144 bytes of JSON; null when absent. It must match the schema of the wait. */
    data: Type.Optional(Type.Unknown()),
    /** Id of the event, under which it counts once for 7 days, with `runId` until the run ends; random when absent. */
    id: Type.Optional(RequestId),
  },
  CLOSED,
)
export type SendEventBody = Static<typeof SendEventBody>

/** Response to an external event. */
export const EventReceived = Type.Object({
  /** Id of the event. */
  id: Type.String(),
  /**
   * DELIVERED: a wait has it. DELIVERING: it decides a wait as soon as the run confirms it. STORED: nothing waits for it yet; it
   * is stored for 7 days.
   */
  status: Type.Enum(['DELIVERED', 'DELIVERING', 'STORED']),
  /** With DELIVERED and DELIVERING: run of the wait. Absent if the run was deleted since. */
  runId: Type.Optional(Type.String()),
  /** With DELIVERED and DELIVERING: id of the review that is the wait. */
  reviewId: Type.Optional(Type.String()),
})
export type EventReceived = Static<typeof EventReceived>

/** Body of `POST /api/events/{name}/links`. */
export const EventLinkBody = Type.Object(
  {
    /** Correlation key of the event. */
    key: Type.Optional(ExternalEventKey),
    /** The only run whose waits get the event; the waits of all runs when absent. */
    runId: Type.Optional(RunId),
    /**
     * Time for which the link is valid, in milliseconds, at most the time for which events are stored. When absent: with `runId`
     * until the run ends, otherwise that maximum.
     */
    expiresInMs: Type.Optional(PositiveLimit),
  },
  CLOSED,
)
export type EventLinkBody = Static<typeof EventLinkBody>

/** A link with which a caller without a key sends one event: `POST` with the data as JSON. */
export const EventLink = Type.Object({
  /** Path on this server. Who knows it can send the event. */
  path: Type.String(),
  /** Id of the event. */
  id: Type.String(),
  /** Absent if the link is valid until its run ends. */
  expiresAt: Type.Optional(Instant),
})
export type EventLink = Static<typeof EventLink>

/** Response to an event that was sent with a link; see `EventReceived`. */
export const LinkedEventReceived = Type.Pick(EventReceived, ['id', 'status'])
export type LinkedEventReceived = Static<typeof LinkedEventReceived>

/** Signed content of a link. */
export const EventLinkContent = Type.Object({
  /** Name of the key that created the link; empty on a server without keys. */
  issuer: Type.String(),
  id: Type.String(),
  name: ExternalEventName,
  key: Type.Optional(ExternalEventKey),
  runId: Type.Optional(RunId),
  /** Time of expiry in milliseconds since 1970; absent if the link is valid until its run ends. */
  expiresAt: Type.Optional(Type.Number()),
})
export type EventLinkContent = Static<typeof EventLinkContent>

/** Body of `POST /api/event-links/{token}`: the data of the event. */
export const LinkedEventData = Type.Unknown()
export type LinkedEventData = Static<typeof LinkedEventData>
