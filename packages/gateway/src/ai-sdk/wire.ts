/**
 * Requests and chunks of the AI SDK's UI message stream protocol, version 1.
 *
 * @see https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
import { Type, type Static } from '@tutti/core'
import { ClientToolBody, MAX_COUNT } from '@tutti/protocol/internal'

const CLOSED = { additionalProperties: false } as const

/** Maximum number of messages and of the parts of one, in a request. */
const MAX_MESSAGES = 1_000
const MAX_PARTS = 10_000

/** Maximum number of tools of the client. */
const MAX_TOOLS = 128

const Text = Type.String()
const Id = Type.String({ minLength: 1, maxLength: 1_000 })

/** Part of a message. Fields of parts that this server does not read are not checked. */
const MessagePart = Type.Object({
  type: Type.String(),
  text: Type.Optional(Text),
  /** Of a tool part. */
  toolName: Type.Optional(Text),
  toolCallId: Type.Optional(Text),
  state: Type.Optional(Text),
  input: Type.Optional(Type.Unknown()),
  output: Type.Optional(Type.Unknown()),
  errorText: Type.Optional(Text),
  providerExecuted: Type.Optional(Type.Boolean()),
  approval: Type.Optional(
    Type.Object({
      id: Text,
      approved: Type.Optional(Type.Boolean()),
      reason: Type.Optional(Text),
    }),
  ),
})
export type ChatPart = Static<typeof MessagePart>

/** Message of a chat, as `useChat` sends it. */
export const ChatMessage = Type.Object({
  id: Text,
  role: Type.Enum(['system', 'user', 'assistant']),
  parts: Type.Array(MessagePart, { maxItems: MAX_PARTS }),
  /** Metadata that this server has sent, and more of the application. */
  metadata: Type.Optional(
    Type.Object({ seq: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_COUNT })) }),
  ),
})
export type ChatMessage = Static<typeof ChatMessage>

/** Tool of the client, as `AssistantChatTransport` of assistant-ui sends it. */
const NamedTool = Type.Object({
  description: Type.Optional(Text),
  parameters: Type.Record(Type.String(), Type.Unknown()),
})

/**
 * Body of `POST /api/chat`: what `DefaultChatTransport` and `AssistantChatTransport` send, and the fields of their `body`
 * option. Settings of the call and of the model are ignored, because the model catalog has them.
 */
export const ChatBody = Type.Object(
  {
    /** Id of the chat. */
    id: Id,
    messages: Type.Array(ChatMessage, { minItems: 1, maxItems: MAX_MESSAGES }),
    trigger: Type.Optional(Type.Enum(['submit-message', 'regenerate-message'])),
    /** Message that is replaced or regenerated; `messages` ends before it. */
    messageId: Type.Optional(Text),
    /** Ensemble, or alias of the model catalog. @default the query, or else the first shared ensemble */
    model: Type.Optional(Type.String({ minLength: 1 })),
    /** System message. */
    instructions: Type.Optional(Text),
    /** System message, as assistant-ui sends it; it precedes `instructions`. */
    system: Type.Optional(Text),
    /** Tools that the client executes, in addition to those of the server: a list, or a map from names. */
    tools: Type.Optional(
      Type.Union([
        Type.Array(ClientToolBody, { maxItems: MAX_TOOLS }),
        Type.Record(Type.String(), NamedTool, { maxProperties: MAX_TOOLS }),
      ]),
    ),
    /**
     * Whether a lost connection cancels the run. `useChat` gives no other sign of `stop()`, and a reload looks the same.
     *
     * @default continue
     */
    onDisconnect: Type.Optional(Type.Enum(['continue', 'cancel'])),
    /** Accepted without an effect: metadata of the request, and settings of its model call. */
    metadata: Type.Optional(Type.Unknown()),
    callSettings: Type.Optional(Type.Unknown()),
    config: Type.Optional(Type.Unknown()),
  },
  CLOSED,
)
export type ChatBody = Static<typeof ChatBody>

/** Reason of the end of a response. */
export type ChatFinishReason =
  | 'stop'
  | 'length'
  | 'content-filter'
  | 'tool-calls'
  | 'error'
  | 'interrupted'
  | 'other'

/** Metadata of a message. */
export interface ChatMetadata {
  readonly runId: string
  readonly status?: string
  /** `seq` of the event at which the message pauses; the client sends it back with its answers. */
  readonly seq?: number
  readonly usage?: {
    readonly inputTokens: number
    readonly outputTokens: number
    readonly totalTokens: number
    readonly cachedInputTokens: number
    /** Part of `outputTokens`; absent when models did not reason, or do not report it. */
    readonly reasoningTokens?: number
  }
  /** In US dollars; absent when a price is not known. */
  readonly costUsd?: number
}

interface ToolChunk {
  readonly toolCallId: string
  readonly providerExecuted?: boolean
  readonly dynamic?: boolean
}

/** A chunk of a UI message stream, of the types that this server sends. */
export type ChatChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata: ChatMetadata }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | { readonly type: 'text-start' | 'text-end'; readonly id: string }
  | { readonly type: 'text-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'reasoning-delta'; readonly id: string; readonly delta: string }
  | (ToolChunk & {
      readonly type: 'tool-input-available'
      readonly toolName: string
      readonly input: unknown
    })
  | (ToolChunk & { readonly type: 'tool-output-available'; readonly output: unknown })
  | (ToolChunk & { readonly type: 'tool-output-error'; readonly errorText: string })
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | {
      readonly type: 'tool-approval-request'
      readonly approvalId: string
      readonly toolCallId: string
      readonly reason?: string
    }
  | {
      readonly type: 'data-task' | 'data-delegation' | 'data-group' | 'data-progress'
      readonly id: string
      readonly data: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'message-metadata'; readonly messageMetadata: ChatMetadata }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason: string }
  | {
      readonly type: 'finish'
      readonly finishReason: ChatFinishReason
      readonly messageMetadata: ChatMetadata
    }
