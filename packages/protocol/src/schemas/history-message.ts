/** Messages of the conversation before a run. */
import Type from 'typebox'
import { CLOSED, NonBlank } from './scalars.ts'

import type { Static } from '../static.ts'

/** Maximum number of messages before a run. */
export const MAX_HISTORY_MESSAGES = 1_000

/** Maximum size of the messages before a run, in bytes of UTF-8 as JSON. */
export const MAX_HISTORY_BYTES = 1_000_000

/** Maximum number of tool calls of one message. */
const MAX_HISTORY_CALLS = 256

/** Tool call in the conversation before a run. */
export const HistoryToolCall = Type.Object(
  {
    /** Id of the call; the message with its result repeats it. */
    id: NonBlank,
    /** Name of the tool. */
    name: NonBlank,
    /** Arguments of the call as JSON text. */
    arguments: Type.String(),
  },
  CLOSED,
)
export type HistoryToolCall = Static<typeof HistoryToolCall>

/**
 * Message of the conversation before a run. Each tool call of an assistant is followed by a `tool` message with its
 * result, before the next message of the user or the assistant.
 */
export const HistoryMessage = Type.Union([
  Type.Object({ role: Type.Literal('user'), content: Type.String() }, CLOSED),
  Type.Object(
    {
      role: Type.Literal('assistant'),
      content: Type.String(),
      toolCalls: Type.Optional(Type.Array(HistoryToolCall, { maxItems: MAX_HISTORY_CALLS })),
    },
    CLOSED,
  ),
  Type.Object({ role: Type.Literal('tool'), toolCallId: NonBlank, content: Type.String() }, CLOSED),
])
export type HistoryMessage = Static<typeof HistoryMessage>
