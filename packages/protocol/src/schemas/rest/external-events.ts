/** External events over REST. */
import Type from 'typebox'
import { CLOSED, ExternalEventKey, RequestId, RunId } from '../scalars.ts'

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
    /** Id of the event, under which it counts once for 7 days; random when absent. */
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
   * DELIVERED: a wait has it. DELIVERING: it decides a wait as soon as the run confirms it. STORED: nothing waits for it yet; it is
   * stored for 7 days.
   */
  status: Type.Enum(['DELIVERED', 'DELIVERING', 'STORED']),
  /** With DELIVERED and DELIVERING: run of the wait. Absent if the run was deleted since. */
  runId: Type.Optional(Type.String()),
  /** With DELIVERED and DELIVERING: id of the review that is the wait. */
  reviewId: Type.Optional(Type.String()),
})
export type EventReceived = Static<typeof EventReceived>
