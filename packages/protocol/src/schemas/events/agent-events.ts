/** Events of a working agent: model turns, reasoning, tokens, tool calls, delegations and changed files. */
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
import { RequestedToolCall, taskAttempt, taskPosition, turnReasoning } from './positions.ts'

import type { Static } from '../../static.ts'

/** Message of the conversation that is sent to the model. */
export const LlmMessage = Type.Object({
  /** Author of the message. */
  role: Type.Enum(['system', 'user', 'assistant', 'tool']),
  /** Text of the message; null for a message that only requests tools. */
  content: NullableText,
  /** Tool calls that the message requests; null when none. */
  toolCalls: Type.Union([Type.Array(RequestedToolCall), Type.Null()]),
  /** Tool whose result this is; null for other messages. */
  toolName: NullableText,
})
export type LlmMessage = Static<typeof LlmMessage>

/**
 * A model call begins. After `llm_iteration_failed` or `run_resumed`, the same task, attempt and turn can begin again;
 * its earlier tokens and reasoning are then void.
 */
export const LlmIterationStarted = Type.Object({
  type: Type.Literal('llm_iteration_started'),
  /** Role of the agent. */
  agentRole: Type.String(),
  /** Description of the task, with its inputs filled in. */
  taskDescription: Type.String(),
  /** Number of the turn, from 0 in each attempt. */
  iterationIndex: Count,
  /** The last 20 messages that the model gets. */
  messages: Type.Array(LlmMessage),
  /** Number of all messages that the model gets. */
  totalMessageCount: Count,
  ...taskPosition,
  /** Alias of the model. */
  model: Type.String(),
  /** Time just before the model is called. */
  startedAt: Instant,
})
export type LlmIterationStarted = Static<typeof LlmIterationStarted>

/** A model call ended with an answer. */
export const LlmIterationCompleted = Type.Object({
  type: Type.Literal('llm_iteration_completed'),
  /** Role of the agent. */
  agentRole: Type.String(),
  /** Description of the task, with its inputs filled in. */
  taskDescription: Type.String(),
  /** Number of the turn, from 0 in each attempt. */
  iterationIndex: Count,
  /** Whether the model requested tools or gave its final answer. */
  responseType: Type.Enum(['TOOL_CALLS', 'FINAL_ANSWER']),
  /** Text of the answer. */
  responseText: Type.Optional(Type.String()),
  /** Tool calls that the model requests. */
  toolRequests: Type.Optional(Type.Array(RequestedToolCall)),
  /** Tokens read; -1 when not known. */
  inputTokens: TokenCount,
  /** Tokens written; -1 when not known. */
  outputTokens: TokenCount,
  /** Duration of the call in milliseconds. */
  latencyMs: DurationMs,
  ...taskPosition,
  /** Alias of the model. */
  model: Type.String(),
  /** Estimated cost in US dollars; absent when no price is known. */
  costUsd: Type.Optional(CostUsd),
  /** Time at which the answer was complete. */
  completedAt: Instant,
  /** Reason why the answer ended. */
  finishReason: FinishReason,
  /** Text of the provider about a refusal or a blocked answer. */
  refusal: Type.Optional(Type.String()),
  /** Part of `inputTokens` that the provider read from its cache; absent when it does not report it. */
  cachedInputTokens: Type.Optional(Count),
  /** Part of `inputTokens` that the provider wrote to its cache; absent when it does not report it. */
  cacheWriteInputTokens: Type.Optional(Count),
  /**
   * Tokens that budgets count for the call, when `inputTokens` or `outputTokens` is not known: the sum that the provider
   * reports, otherwise an estimate by the length of the texts.
   */
  countedTokens: Type.Optional(Count),
  ...turnReasoning,
})
export type LlmIterationCompleted = Static<typeof LlmIterationCompleted>

/**
 * A model call failed. Another call of the same turn can follow: `llm_iteration_started` of that turn then begins it
 * again, and the tokens and the reasoning of the failed call are void.
 */
export const LlmIterationFailed = Type.Object({
  type: Type.Literal('llm_iteration_failed'),
  /** Role of the agent. */
  agentRole: Type.String(),
  /** Description of the task, with its inputs filled in. */
  taskDescription: Type.String(),
  /** Number of the turn, from 0 in each attempt. */
  iterationIndex: Count,
  ...taskPosition,
  /** Alias of the model. */
  model: Type.String(),
  /** Message of the error. */
  reason: Type.String(),
  /** Failure code, as open text. */
  code: Type.String(),
  /** Duration of the call in milliseconds. */
  latencyMs: DurationMs,
  failedAt: Instant,
  /** Milliseconds until the same model is called again; absent when it is not. */
  retryInMs: Type.Optional(DurationMs),
  /**
   * Milliseconds to wait that the provider asked for. The model is not called again after a wait longer than the
   * ensemble's `maxRetryAfterMs`.
   */
  retryAfterMs: Type.Optional(DurationMs),
  /** Alias of the fallback that is called next; absent when there is none. */
  nextModel: Type.Optional(Type.String()),
})
export type LlmIterationFailed = Static<typeof LlmIterationFailed>

/** Part of a streamed answer; it can contain several tokens of the model. */
export const Token = Type.Object({
  type: Type.Literal('token'),
  /** Text to append. */
  token: Type.String(),
  /** Role of the agent. */
  agentRole: Type.String(),
  /** Description of the task, with its inputs filled in. */
  taskDescription: Type.String(),
  sentAt: Instant,
  ...taskPosition,
  /** Number of the turn, from 0 in each attempt. */
  iterationIndex: Count,
})
export type Token = Static<typeof Token>

/**
 * Part of the readable reasoning of a model. It is not part of the answer. The reasoning of an answered call is also in
 * `llm_iteration_completed`; a run with the capture mode OFF has neither.
 */
export const Reasoning = Type.Object({
  type: Type.Literal('reasoning'),
  /** Text to append to the reasoning of the turn. */
  text: Type.String(),
  /** Role of the agent. */
  agentRole: Type.String(),
  ...taskPosition,
  /** Number of the turn, from 0 in each attempt. */
  iterationIndex: Count,
  sentAt: Instant,
})
export type Reasoning = Static<typeof Reasoning>

/**
 * A tool call ended. The steps of a tool that calls other tools come before its own event.
 */
export const ToolCalled = Type.Object({
  type: Type.Literal('tool_called'),
  /** Role of the agent. */
  agentRole: Type.String(),
  /** Number of the task in its run, from 1; 0 from servers that do not number delegated tasks. */
  taskIndex: Count,
  toolName: Type.String(),
  /** Duration of the call in milliseconds. */
  durationMs: DurationMs,
  outcome: ToolOutcome,
  /** Arguments as the model wrote them: JSON text. */
  toolArguments: NullableText,
  /** Text that the model receives; `Error: …` after a failure. */
  toolResult: NullableText,
  /** Result as a JSON value; null when there is none. */
  structuredResult: Type.Unknown(),
  ...taskAttempt,
  /** Number of the turn, from 0 in each attempt. */
  iterationIndex: Count,
  /** Tool-call id assigned by the model. */
  toolCallId: Type.String(),
  /** Id of the call that this step belongs to; absent on a call of the model. */
  parentToolCallId: Type.Optional(Type.String()),
  /** Time at which the call ended; it began `durationMs` earlier. */
  completedAt: Instant,
})
export type ToolCalled = Static<typeof ToolCalled>

/** A tool reports the progress of its call. */
export const ToolProgressed = Type.Object({
  type: Type.Literal('tool_progress'),
  /** Role of the agent. */
  agentRole: Type.String(),
  ...taskPosition,
  /** Number of the turn, from 0 in each attempt. */
  iterationIndex: Count,
  /** Tool-call id assigned by the model. */
  toolCallId: Type.String(),
  toolName: Type.String(),
  /** Description of the progress. */
  message: Type.String(),
  /** Completed part, from 0 to 1; absent when the tool does not know it. */
  fraction: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  sentAt: Instant,
})
export type ToolProgressed = Static<typeof ToolProgressed>

const delegation = {
  /** Id of the delegation. */
  delegationId: Type.String(),
  /** Role of the agent that delegates. */
  delegatingAgentRole: Type.String(),
  /** Role of the agent that does the work. */
  workerRole: Type.String(),
}

/**
 * A manager or a peer delegates work to another agent, or a handler adds a task. The work is a separate task of the run,
 * which this event adds; its `task_started` follows.
 */
export const DelegationStarted = Type.Object({
  type: Type.Literal('delegation_started'),
  ...delegation,
  /** Description of the delegated work. */
  taskDescription: Type.String(),
  ...taskAttempt,
  /** Name of the task that the delegation adds; unique in the run. */
  workerTask: Type.String(),
  /** Number of that task in its run. */
  workerTaskIndex: Count,
  /** Nesting depth: 1 for a delegation by a task of the plan, 2 for one by a delegated task, and so on. */
  depth: PositiveCount,
  /**
   * Present if the agent hands its conversation off: the other agent continues it, and its answer is that of the task. For
   * a handoff, `depth` is the same for all agents of the conversation.
   */
  handoff: Type.Optional(Type.Literal(true)),
  startedAt: Instant,
})
export type DelegationStarted = Static<typeof DelegationStarted>

/** A delegated task completed. */
export const DelegationCompleted = Type.Object({
  type: Type.Literal('delegation_completed'),
  ...delegation,
  /** Duration of the delegation in milliseconds. */
  durationMs: DurationMs,
  ...taskAttempt,
  /** Name of the task that the delegation added. */
  workerTask: Type.String(),
  completedAt: Instant,
})
export type DelegationCompleted = Static<typeof DelegationCompleted>

/** A delegated task failed, or a limit refused the delegation before it began. */
export const DelegationFailed = Type.Object({
  type: Type.Literal('delegation_failed'),
  ...delegation,
  /** Reason of the failure. */
  reason: Type.String(),
  ...taskAttempt,
  /** Name of the task that the delegation added; absent when it was refused before it began. */
  workerTask: Type.Optional(Type.String()),
  failedAt: Instant,
})
export type DelegationFailed = Static<typeof DelegationFailed>

/** A tool changed a file of the workspace. */
export const FileChanged = Type.Object({
  type: Type.Literal('file_changed'),
  /** Role of the agent. */
  agentRole: Type.String(),
  /** Path of the file, relative to the tool's directory. */
  filePath: Type.String(),
  changeType: Type.Enum(['CREATED', 'MODIFIED', 'DELETED']),
  linesAdded: Count,
  linesRemoved: Count,
  /** Time of the change. */
  timestamp: Instant,
})
export type FileChanged = Static<typeof FileChanged>

/** The event types of this file, in the order of the union. */
export const AGENT_EVENTS = [
  LlmIterationStarted,
  Reasoning,
  Token,
  LlmIterationCompleted,
  LlmIterationFailed,
  ToolProgressed,
  ToolCalled,
  DelegationStarted,
  DelegationCompleted,
  DelegationFailed,
  FileChanged,
] as const
