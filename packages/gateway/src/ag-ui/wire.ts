/**
 * Shapes of AG-UI 1.0: the request and the events that the gateway sends.
 *
 * @see https://docs.ag-ui.com/spec/1.0
 */
import { Type, type Static } from '@tutti/core'
import { SubmitRunBody } from '@tutti/protocol'
import { MAX_HISTORY_MESSAGES } from '@tutti/protocol/internal'

/** Version of the protocol that the gateway speaks. */
export const AGUI_VERSION = '1.0'

/** Maximum length of an id that a client chooses. */
const MAX_ID_LENGTH = 1_000

/** Maximum number of tools, context items and answers of one request. */
const MAX_ITEMS = 256

const Id = Type.String({ minLength: 1, maxLength: MAX_ID_LENGTH })

const { runId: RunId } = Type.Required(
  Type.Object({ runId: SubmitRunBody.properties.runId }),
).properties

/** Tool call in a message. */
export const AguiToolCall = Type.Object({
  id: Id,
  function: Type.Object({ name: Type.String({ minLength: 1 }), arguments: Type.String() }),
})
export type AguiToolCall = Static<typeof AguiToolCall>

/** Message of the conversation. */
export const AguiMessage = Type.Object({
  id: Id,
  role: Type.Enum(['user', 'assistant', 'tool', 'system', 'developer', 'activity', 'reasoning']),
  /** Text, or parts (only texts are supported); an object in an activity. */
  content: Type.Optional(Type.Unknown()),
  /** With `assistant`: the calls that it requests. */
  toolCalls: Type.Optional(Type.Array(AguiToolCall, { maxItems: MAX_ITEMS })),
  /** With `tool`: the call whose result this is. */
  toolCallId: Type.Optional(Id),
  /** With `tool`: the reason why the call failed. */
  error: Type.Optional(Type.String()),
})
export type AguiMessage = Static<typeof AguiMessage>

/** Tool that the client executes. */
export const AguiTool = Type.Object({
  name: Type.String({ minLength: 1 }),
  description: Type.Optional(Type.String()),
  /** JSON Schema of the arguments; absent when it has none. */
  parameters: Type.Optional(Type.Unknown()),
})
export type AguiTool = Static<typeof AguiTool>

/** Answer to an interrupt. */
export const AguiResume = Type.Object({
  interruptId: Id,
  status: Type.Enum(['resolved', 'cancelled']),
  payload: Type.Optional(Type.Unknown()),
})
export type AguiResume = Static<typeof AguiResume>

/** Request to run an agent. Fields that only the client uses are not listed. */
export const AguiInput = Type.Object({
  threadId: Id,
  runId: RunId,
  /** State of the client; the run adds its own state to it. */
  state: Type.Optional(Type.Unknown()),
  messages: Type.Array(AguiMessage, { maxItems: MAX_HISTORY_MESSAGES }),
  tools: Type.Optional(Type.Array(AguiTool, { maxItems: MAX_ITEMS })),
  context: Type.Optional(
    Type.Array(Type.Object({ description: Type.String(), value: Type.String() }), {
      maxItems: MAX_ITEMS,
    }),
  ),
  resume: Type.Optional(Type.Array(AguiResume, { maxItems: MAX_ITEMS })),
})
export type AguiInput = Static<typeof AguiInput>

/** Ids of one run of AG-UI: a part of a run of Tutti that ends where the run waits for its client. */
export interface AguiRunIds {
  readonly threadId: string
  readonly runId: string
}

/** Tokens of one model, or of one agent that a tool called. */
export interface AguiTokenUsage {
  /** Name of the model, or of the tool that called the agent. */
  readonly model: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
  readonly cachedInputTokens?: number
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number
}

/** Question of a run to its client. */
export interface AguiInterrupt {
  readonly id: string
  readonly reason: 'tool_call' | 'input_required' | 'confirmation'
  readonly message: string
  readonly toolCallId?: string
  readonly responseSchema: Readonly<Record<string, unknown>>
  /** In ISO 8601. */
  readonly expiresAt?: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Reason why a run of AG-UI ended. */
export type AguiOutcome =
  | { readonly type: 'success'; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AguiInterrupt[] }
  | { readonly type: 'cancelled' }

/** Operation of a JSON Patch. @see https://www.rfc-editor.org/rfc/rfc6902 */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

/** Event that the gateway sends. */
export type AguiEvent =
  | ({ readonly type: 'RUN_STARTED'; readonly protocolVersion: string } & AguiRunIds)
  | ({
      readonly type: 'RUN_FINISHED'
      readonly outcome: AguiOutcome
      readonly result?: unknown
      readonly usage: readonly AguiTokenUsage[]
      readonly metadata?: Readonly<Record<string, unknown>>
    } & AguiRunIds)
  | {
      readonly type: 'RUN_ERROR'
      readonly message: string
      readonly code: string
      readonly usage?: readonly AguiTokenUsage[]
    }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | {
      readonly type: 'TEXT_MESSAGE_START'
      readonly messageId: string
      readonly role: 'assistant'
    }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | { readonly type: 'REASONING_START' | 'REASONING_END'; readonly messageId: string }
  | {
      readonly type: 'REASONING_MESSAGE_START'
      readonly messageId: string
      readonly role: 'reasoning'
    }
  | {
      readonly type: 'REASONING_MESSAGE_CONTENT'
      readonly messageId: string
      readonly delta: string
    }
  | { readonly type: 'REASONING_MESSAGE_END'; readonly messageId: string }
  | {
      readonly type: 'TOOL_CALL_START'
      readonly toolCallId: string
      readonly toolCallName: string
      readonly parentMessageId: string
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT'
      readonly messageId: string
      readonly toolCallId: string
      readonly content: string
      readonly role: 'tool'
    }
  | { readonly type: 'STATE_SNAPSHOT'; readonly snapshot: Readonly<Record<string, unknown>> }
  | { readonly type: 'STATE_DELTA'; readonly delta: readonly PatchOperation[] }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AguiMessage[] }
