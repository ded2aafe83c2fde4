/**
 * Request bodies of the wire. They are open: callers that speak a fuller version of A2A send more fields.
 *
 * @see A2A 0.1, `tasks/send` and `tasks/cancel`; JamJet's `agent_tool` sends the least of it.
 */
import { Type, type Static } from '@tutti/core'
import { SubmitRunBody, USAGE_EXTENSION } from '@tutti/protocol'

/** Chosen by a caller for a session: visible ASCII, which every store takes as a tag. */
const SessionId = Type.String({ pattern: '^[!-~]{1,255}$' })

/** What the caller can still spend on the task. */
const CallerLimits = Type.Object({
  max_cost_usd: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Counted from the arrival of the request, in milliseconds. */
  deadline_ms: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
})

const Kind = Type.Optional(Type.Enum(['text', 'data']))

/** A piece of a message: text, or any JSON as `data`. */
export const TextPart = Type.Object({
  type: Kind,
  kind: Kind,
  text: Type.Optional(Type.String()),
  data: Type.Optional(Type.Unknown()),
})
export type TextPart = Static<typeof TextPart>

const Message = Type.Object({
  parts: Type.Array(TextPart, { minItems: 1 }),
  /** Id of the task, where later versions have it. */
  taskId: Type.Optional(Type.String({ minLength: 1 })),
})

/** The parameters of `tasks/send` and `tasks/sendSubscribe`. */
export const TasksSendParams = Type.Object({
  /** Id of an existing task, or of the one to begin. */
  id: Type.Optional(SubmitRunBody.properties.runId),
  sessionId: Type.Optional(SessionId),
  /** Absent to wait for an existing task. */
  message: Type.Optional(Message),
  metadata: Type.Optional(
    Type.Object({
      /** Name of an ensemble; the address of one ensemble has no other. */
      ensemble: Type.Optional(Type.String({ minLength: 1 })),
      /** Id of the review that the message decides. @default the oldest open one */
      reviewId: Type.Optional(Type.String({ minLength: 1 })),
      [USAGE_EXTENSION]: Type.Optional(CallerLimits),
    }),
  ),
})
export type TasksSendParams = Static<typeof TasksSendParams>

/** The parameters of `tasks/cancel`. */
export const CancelParams = Type.Object({ id: Type.String({ minLength: 1 }) })
export type CancelParams = Static<typeof CancelParams>

/** The id of a JSON-RPC request. */
export const RpcId = Type.Union([Type.String({ maxLength: 255 }), Type.Number(), Type.Null()])
export type RpcId = Static<typeof RpcId>
