/** Events of the agent at work: model turns, tokens, tool calls, delegations, changed files. */
import Type from 'typebox'
import {
  CostUsd,
  Count,
  DurationMs,
  Instant,
  NullableText,
  PositiveCount,
  TokenCount,
} from '../scalars.ts'
import { FinishReason, ToolOutcome } from '../enums.ts'
import { RequestedToolCall, taskAttempt, taskPosition } from './positions.ts'

/** One message of the conversation sent to the model. AgentEnsemble wire. */
export const LlmMessage = Type.Object({
  role: Type.Enum(['system', 'user', 'assistant', 'tool']),
  content: NullableText,
  toolCalls: Type.Union([Type.Array(RequestedToolCall), Type.Null()]),
  toolName: NullableText,
})
export type LlmMessage = Type.Static<typeof LlmMessage>

/**
 * A model call begins. Only the last 20 messages are in it. One of the same task, attempt and turn as
 * before (after `llm_iteration_failed` or `run_resumed`) begins that turn anew: its earlier tokens are
 * void. AgentEnsemble wire.
 */
export const LlmIterationStarted = Type.Object({
  type: Type.Literal('llm_iteration_started'),
  agentRole: Type.String(),
  taskDescription: Type.String(),
  /** Counts from 0 in each try of a task. */
  iterationIndex: Count,
  messages: Type.Array(LlmMessage),
  totalMessageCount: Count,
  ...taskPosition,
  /** Alias of the model that is called. */
  model: Type.String(),
  /** Just before the model is called. Logs of earlier versions lack it; ours always sends it. */
  startedAt: Type.Optional(Instant),
})
export type LlmIterationStarted = Type.Static<typeof LlmIterationStarted>

/** A model call ended. AgentEnsemble wire. */
export const LlmIterationCompleted = Type.Object({
  type: Type.Literal('llm_iteration_completed'),
  agentRole: Type.String(),
  taskDescription: Type.String(),
  iterationIndex: Count,
  responseType: Type.Enum(['TOOL_CALLS', 'FINAL_ANSWER']),
  responseText: Type.Optional(Type.String()),
  toolRequests: Type.Optional(Type.Array(RequestedToolCall)),
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  latencyMs: DurationMs,
  ...taskPosition,
  model: Type.String(),
  /** Absent when no price is known. */
  costUsd: Type.Optional(CostUsd),
  /** When the answer was whole. Logs of earlier versions lack it; ours always sends it. */
  completedAt: Type.Optional(Instant),
  /** Finish reason of the answer. Logs of earlier versions lack it; ours always sends it. */
  finishReason: Type.Optional(FinishReason),
  /** Text of the provider about a refusal or a blocked answer; absent when it says nothing. */
  refusal: Type.Optional(Type.String()),
  /** Those of `inputTokens` that the provider read from its cache; absent when it does not say. */
  cachedInputTokens: Type.Optional(Count),
})
export type LlmIterationCompleted = Type.Static<typeof LlmIterationCompleted>

/**
 * A model call failed; another call of the same turn may follow. `llm_iteration_started` of the same
 * turn begins it, and the tokens of the failed call are void then. Ours.
 */
export const LlmIterationFailed = Type.Object({
  type: Type.Literal('llm_iteration_failed'),
  agentRole: Type.String(),
  taskDescription: Type.String(),
  iterationIndex: Count,
  ...taskPosition,
  /** Alias of the model that was called. */
  model: Type.String(),
  reason: Type.String(),
  /** One of `FAILURE_CODES`, as open text. */
  code: Type.String(),
  latencyMs: DurationMs,
  failedAt: Instant,
  /** Present when the same model is called again: after this wait. */
  retryInMs: Type.Optional(DurationMs),
  /** Wait that the provider asked for; more than `maxRetryAfterMs` of the ensemble is not waited. */
  retryAfterMs: Type.Optional(DurationMs),
  /** Present when a fallback is called next: its alias. */
  nextModel: Type.Optional(Type.String()),
})
export type LlmIterationFailed = Type.Static<typeof LlmIterationFailed>

/** A piece of streamed text; several tokens of the model may be joined in one. AgentEnsemble wire. */
export const Token = Type.Object({
  type: Type.Literal('token'),
  token: Type.String(),
  agentRole: Type.String(),
  taskDescription: Type.String(),
  sentAt: Instant,
  ...taskPosition,
  iterationIndex: Count,
})
export type Token = Type.Static<typeof Token>

/**
 * A tool call ended. AgentEnsemble wire; the steps of a tool that calls others (ours) come before the
 * call that they are a part of.
 */
export const ToolCalled = Type.Object({
  type: Type.Literal('tool_called'),
  agentRole: Type.String(),
  /** 0 when not known (AgentEnsemble's hierarchical workers); ours is always from 1. */
  taskIndex: Count,
  toolName: Type.String(),
  durationMs: DurationMs,
  outcome: ToolOutcome,
  toolArguments: NullableText,
  /** The text given to the model; `Error: …` after a failure. */
  toolResult: NullableText,
  structuredResult: Type.Unknown(),
  ...taskAttempt,
  iterationIndex: Count,
  toolCallId: Type.String(),
  /** Present on a step: the call that it is a part of. */
  parentToolCallId: Type.Optional(Type.String()),
  /**
   * When the call ended; it began `durationMs` before. Logs of earlier versions lack it; ours always
   * sends it.
   */
  completedAt: Type.Optional(Instant),
})
export type ToolCalled = Type.Static<typeof ToolCalled>

/** A tool says how far its call is. Ours. */
export const ToolProgressed = Type.Object({
  type: Type.Literal('tool_progress'),
  agentRole: Type.String(),
  ...taskPosition,
  iterationIndex: Count,
  toolCallId: Type.String(),
  toolName: Type.String(),
  message: Type.String(),
  /** Done so far; absent when the tool does not know. */
  fraction: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  sentAt: Instant,
})
export type ToolProgressed = Type.Static<typeof ToolProgressed>

const delegation = {
  delegationId: Type.String(),
  delegatingAgentRole: Type.String(),
  workerRole: Type.String(),
}

/**
 * An agent, a manager or a peer, hands work to another. The work runs as a task of its own, which this
 * event adds to the run; its `task_started` follows. AgentEnsemble wire.
 */
export const DelegationStarted = Type.Object({
  type: Type.Literal('delegation_started'),
  ...delegation,
  taskDescription: Type.String(),
  ...taskAttempt,
  /** Name of the task that the delegation makes; unique in the run. */
  workerTask: Type.String(),
  workerTaskIndex: Count,
  /** 1 for a delegation by a task of the plan, 2 for one by the task that it made, and so on. */
  depth: PositiveCount,
  /** Logs of earlier versions lack it; ours always sends it. */
  startedAt: Type.Optional(Instant),
})
export type DelegationStarted = Type.Static<typeof DelegationStarted>

/** The worker gave its answer. AgentEnsemble wire. */
export const DelegationCompleted = Type.Object({
  type: Type.Literal('delegation_completed'),
  ...delegation,
  durationMs: DurationMs,
  ...taskAttempt,
  workerTask: Type.String(),
  /** Logs of earlier versions lack it; ours always sends it. */
  completedAt: Type.Optional(Instant),
})
export type DelegationCompleted = Type.Static<typeof DelegationCompleted>

/** The worker failed, or a limit refused the delegation before it began. AgentEnsemble wire. */
export const DelegationFailed = Type.Object({
  type: Type.Literal('delegation_failed'),
  ...delegation,
  reason: Type.String(),
  ...taskAttempt,
  /** Absent when the delegation was refused before it began. */
  workerTask: Type.Optional(Type.String()),
  /** Logs of earlier versions lack it; ours always sends it. */
  failedAt: Type.Optional(Instant),
})
export type DelegationFailed = Type.Static<typeof DelegationFailed>

/** A tool changed a file of the workspace. AgentEnsemble wire. */
export const FileChanged = Type.Object({
  type: Type.Literal('file_changed'),
  agentRole: Type.String(),
  filePath: Type.String(),
  changeType: Type.Enum(['CREATED', 'MODIFIED', 'DELETED']),
  linesAdded: Count,
  linesRemoved: Count,
  timestamp: Instant,
})
export type FileChanged = Type.Static<typeof FileChanged>
