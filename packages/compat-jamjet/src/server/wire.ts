/**
 * Request bodies of the wire. Unknown fields are allowed, because callers with a fuller version of A2A send more.
 *
 * @see A2A 0.1, `tasks/send` and `tasks/cancel`; JamJet's `agent_tool` uses a subset
 */
import { Type, type Static } from '@tutti/core'
import { SubmitRunBody } from '@tutti/protocol'
import { MAX_COST_USD, MAX_COUNT, MAX_DURATION_MS, USAGE_EXTENSION } from '@tutti/protocol/internal'

/** Session id that a caller chooses: visible ASCII, which every store accepts as a tag. */
const SessionId = Type.String({ pattern: '^[!-~]{1,255}$' })

/** Limits of the caller on the task. */
const CallerLimits = Type.Object({
  max_cost_usd: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MAX_COST_USD })),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_COUNT })),
  /** Counted from the arrival of the request, in milliseconds. */
  deadline_ms: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MAX_DURATION_MS })),
})

const Kind = Type.Optional(Type.Enum(['text', 'data']))

/** Part of a message: text, or any JSON as `data`. */
export const TextPart = Type.Object({
  type: Kind,
  kind: Kind,
  text: Type.Optional(Type.String()),
  data: Type.Optional(Type.Unknown()),
})
export type TextPart = Static<typeof TextPart>

const Message = Type.Object({
  parts: Type.Array(TextPart, { minItems: 1 }),
  /** Id of the task, as later versions name it. */
  taskId: Type.Optional(Type.String({ minLength: 1 })),
})

/** Parameters of `tasks/send` and `tasks/sendSubscribe`. */
export const TasksSendParams = Type.Object({
  /** Id of an existing or a new task. */
  id: Type.Optional(SubmitRunBody.properties.runId),
  sessionId: Type.Optional(SessionId),
  /** Message; absent to wait for an existing task. */
  message: Type.Optional(Message),
  metadata: Type.Optional(
    Type.Object({
      /** Name of an ensemble; at the address of one ensemble only its own. */
      ensemble: Type.Optional(Type.String({ minLength: 1 })),
      /** Id of the review that the message decides. @default the oldest open one */
      reviewId: Type.Optional(Type.String({ minLength: 1 })),
      [USAGE_EXTENSION]: Type.Optional(CallerLimits),
    }),
  ),
})
export type TasksSendParams = Static<typeof TasksSendParams>

/** Parameters of `tasks/cancel`. */
export const CancelParams = Type.Object({ id: Type.String({ minLength: 1 }) })
export type CancelParams = Static<typeof CancelParams>

/** Id of a JSON-RPC request. */
export const RpcId = Type.Union([
  Type.String({ maxLength: 255 }),
  Type.Number({ minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE }),
  Type.Null(),
])
export type RpcId = Static<typeof RpcId>
