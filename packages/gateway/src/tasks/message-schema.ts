/**
 * The bodies of the wire. They are open: a caller that speaks a fuller version of A2A sends more fields, and
 * those that would change what is done are named here.
 *
 * @see A2A 0.1, `tasks/send` and `tasks/cancel`; JamJet's `agent_tool` sends the least of it.
 */
import { Type, type Static } from '@tutti/core'
import { SubmitRunBody, USAGE_EXTENSION } from '@tutti/protocol'

/** Chosen by a caller for a session: visible ASCII, which every store takes as a tag. */
const SessionId = Type.String({ pattern: '^[!-~]{1,255}$' })

/** What the caller can still spend on the task. */
export const CallerLimits = Type.Object({
  max_cost_usd: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  /** From when the request arrives, in milliseconds. */
  deadline_ms: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
})
export type CallerLimits = Static<typeof CallerLimits>

const PartKind = Type.Optional(Type.Enum(['text', 'data']))

/** A piece of a message: text, or any JSON as `data`. */
export const Part = Type.Object({
  type: PartKind,
  kind: PartKind,
  text: Type.Optional(Type.String()),
  data: Type.Optional(Type.Unknown()),
})
export type Part = Static<typeof Part>

const Message = Type.Object({
  parts: Type.Array(Part, { minItems: 1 }),
  /** The task that it is about, as later versions say it. */
  taskId: Type.Optional(Type.String({ minLength: 1 })),
})

/** The parameters of `tasks/send` and `tasks/sendSubscribe`. */
export const SendParams = Type.Object({
  /** The task: one that is there, or the id that a new one is to have. */
  id: Type.Optional(SubmitRunBody.properties.runId),
  sessionId: Type.Optional(SessionId),
  /** Left out to wait for a task that is there. */
  message: Type.Optional(Message),
  metadata: Type.Optional(
    Type.Object({
      /** The ensemble that is asked; one address of an ensemble has no other. */
      ensemble: Type.Optional(Type.String({ minLength: 1 })),
      /** Which review is decided, when several are open. */
      reviewId: Type.Optional(Type.String({ minLength: 1 })),
      [USAGE_EXTENSION]: Type.Optional(CallerLimits),
    }),
  ),
})
export type SendParams = Static<typeof SendParams>

/** The parameters of `tasks/cancel`. */
export const CancelParams = Type.Object({ id: Type.String({ minLength: 1 }) })
export type CancelParams = Static<typeof CancelParams>

/** The id of a JSON-RPC request. */
export const RpcId = Type.Union([Type.String({ maxLength: 255 }), Type.Number(), Type.Null()])
export type RpcId = Static<typeof RpcId>
