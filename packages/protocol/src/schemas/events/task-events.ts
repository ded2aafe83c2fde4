/** Events of one task: started, input, completed, failed, skipped, and its metrics. */
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
import { FinishReason } from '../enums.ts'
import { MessagePart } from '../message-part.ts'
import { taskAttempt, taskLabel, taskPosition } from './positions.ts'

import type { Static } from '../../static.ts'

/** An attempt of a task begins. */
export const TaskStarted = Type.Object({
  type: Type.Literal('task_started'),
  /** Number of the task in its run, from 1. */
  taskIndex: Count,
  /** Number of tasks of the run. */
  totalTasks: Count,
  ...taskLabel,
  startedAt: Instant,
  ...taskAttempt,
})
export type TaskStarted = Static<typeof TaskStarted>

/** Input of the agent, before its first model call. */
export const TaskInput = Type.Object({
  type: Type.Literal('task_input'),
  /** Number of the task in its run, from 1; 0 from servers that do not number delegated tasks. */
  taskIndex: Count,
  /** Description of the task, with its inputs filled in. */
  taskDescription: Type.String(),
  /** Expected output, with its inputs filled in. */
  expectedOutput: Type.String(),
  /** Role of the agent. */
  agentRole: Type.String(),
  /** Goal of the agent; the description of the task if the agent has none. */
  agentGoal: Type.String(),
  /** Background of the agent; null when it has none. */
  agentBackground: NullableText,
  /** Names of the agent's tools. */
  toolNames: Type.Array(Type.String()),
  /** Outputs of other tasks as the agent gets them; truncated at 8,000 characters. */
  assembledContext: Type.String(),
  sentAt: Instant,
  ...taskAttempt,
})
export type TaskInput = Static<typeof TaskInput>

/**
 * A task completed, after its review. Tokens, tool calls and cost are those of this attempt.
 */
export const TaskCompleted = Type.Object({
  type: Type.Literal('task_completed'),
  /** Number of the task in its run, from 1. */
  taskIndex: Count,
  /** Number of tasks of the run. */
  totalTasks: Count,
  ...taskLabel,
  completedAt: Instant,
  /** Duration of this attempt in milliseconds. */
  durationMs: DurationMs,
  /** Tokens read and written in this attempt; -1 when not known. */
  tokenCount: TokenCount,
  /** Number of tool calls of this attempt. */
  toolCallCount: Count,
  ...taskAttempt,
  /** Output of the task. */
  output: Type.String(),
  /** Output as a JSON value; present when the task declares an output schema. */
  structuredOutput: Type.Optional(Type.Unknown()),
  /** Files, URLs and data that a handler returned; A2A clients get them instead of `output`. */
  parts: Type.Optional(Type.Array(MessagePart)),
  /** Tokens read in this attempt; -1 when not known. */
  inputTokens: TokenCount,
  /** Tokens written in this attempt; -1 when not known. */
  outputTokens: TokenCount,
  /** Whether the agent had to answer because its model turns were used up. */
  iterationLimitReached: Type.Boolean(),
  /** Estimated cost of this attempt in US dollars; absent when no price is known. */
  costUsd: Type.Optional(CostUsd),
  /** Part of `inputTokens` that was read from a cache of the provider; absent when not known. */
  cachedInputTokens: Type.Optional(Count),
  /** Part of `outputTokens` that models used to reason; absent when not known. */
  reasoningTokens: Type.Optional(Count),
  /**
   * Reason why the last answer of the model ended; `length` when a truncated answer was accepted. Absent for a task
   * without a model.
   */
  finishReason: Type.Optional(FinishReason),
  /** Present if the request of a fork gave the output, so no agent was called. */
  outputGiven: Type.Optional(Type.Literal(true)),
})
export type TaskCompleted = Static<typeof TaskCompleted>

const failedAttempt = {
  /** Number of the task in its run, from 1. */
  taskIndex: Count,
  ...taskLabel,
  failedAt: Instant,
  /** Reason of the failure. */
  reason: Type.String(),
  ...taskAttempt,
  /** Duration of this attempt in milliseconds. */
  durationMs: DurationMs,
  /** Failure code; open text, so that an older reader can read a newer log. */
  code: Type.String(),
  /** Tokens read in this attempt; -1 when not known. */
  inputTokens: TokenCount,
  /** Tokens written in this attempt; -1 when not known. */
  outputTokens: TokenCount,
  /** Number of tool calls of this attempt. */
  toolCallCount: Count,
  /** Estimated cost of this attempt in US dollars; absent when no price is known. */
  costUsd: Type.Optional(CostUsd),
  /** Part of `inputTokens` that was read from a cache of the provider; absent when not known. */
  cachedInputTokens: Type.Optional(Count),
  /** Part of `outputTokens` that models used to reason; absent when not known. */
  reasoningTokens: Type.Optional(Count),
  /** Reason why the last answer of the model ended; present when that failed the attempt. */
  finishReason: Type.Optional(FinishReason),
  /** Text of the provider about a refusal or a blocked answer. */
  refusal: Type.Optional(Type.String()),
}

/**
 * An attempt failed or was rejected by a reviewer (code REVIEW_REJECTED), and another one follows: a `task_started`
 * with the next attempt. It is a separate event because viewers show a task as finally failed after
 * `task_failed`.
 */
export const TaskAttemptFailed = Type.Object({
  type: Type.Literal('task_attempt_failed'),
  ...failedAttempt,
  /** Always true. */
  willRetry: Type.Literal(true),
})
export type TaskAttemptFailed = Static<typeof TaskAttemptFailed>

/**
 * A task failed or was rejected by a reviewer (code REVIEW_REJECTED). Tokens, tool calls and cost are those of its
 * last attempt.
 */
export const TaskFailed = Type.Object({
  type: Type.Literal('task_failed'),
  ...failedAttempt,
  /** Always false. */
  willRetry: Type.Literal(false),
})
export type TaskFailed = Static<typeof TaskFailed>

/** A task will not run: by a condition, because a task that it needs failed, or because the run ends. */
export const TaskSkipped = Type.Object({
  type: Type.Literal('task_skipped'),
  /** Number of the task in its run, from 1. */
  taskIndex: Count,
  /** Name of the task; unique in its run. */
  taskName: Type.String(),
  /** Description of the task, with its inputs filled in. */
  taskDescription: Type.String(),
  skippedAt: Instant,
  /** Reason why the task is skipped. */
  reason: Type.String(),
  /**
   * CONDITION if a condition skips the task: its own, or those of all tasks that it needs. The run can still be completed.
   * Absent otherwise.
   */
  cause: Type.Optional(Type.Enum(['CONDITION'])),
})
export type TaskSkipped = Static<typeof TaskSkipped>

/** Running totals of one task. Dashboards show the newest one. */
export const MetricsSnapshot = Type.Object({
  type: Type.Literal('metrics_snapshot'),
  /** Role of the agent. */
  agentRole: Type.String(),
  /** Number of the task in its run, from 1. */
  taskIndex: Count,
  /** Tokens read in this attempt; -1 when not known. */
  inputTokens: TokenCount,
  /** Tokens written in this attempt; -1 when not known. */
  outputTokens: TokenCount,
  /** Duration of all model calls in milliseconds. */
  llmLatencyMs: DurationMs,
  /** Duration of all tool calls in milliseconds. */
  toolExecutionTimeMs: DurationMs,
  /** Number of model turns. */
  iterationCount: Count,
  /** Estimated cost in US dollars, as a decimal number in text. */
  costEstimate: Type.Optional(Type.String()),
  /** Part of `inputTokens` that was read from a cache of the provider; absent when not known. */
  cachedInputTokens: Type.Optional(Count),
  /** Part of `outputTokens` that models used to reason; absent when not known. */
  reasoningTokens: Type.Optional(Count),
  ...taskAttempt,
})
export type MetricsSnapshot = Static<typeof MetricsSnapshot>

/** A try at a step of a handler, or at a compensation, ended. */
export const HandlerStepEndedEvent = Type.Object({
  type: Type.Literal('handler_step_ended'),
  ...taskPosition,
  /** Name of the step. */
  step: Type.String(),
  /** Present for a compensation: it undoes a step after its handler failed or was cancelled. */
  isCompensation: Type.Optional(Type.Literal(true)),
  /** Number of tries so far, with this one. An interrupted try does not count. */
  tries: PositiveCount,
  startedAt: Instant,
  endedAt: Instant,
  /** Reason of the failure; absent if the step succeeded. */
  reason: Type.Optional(Type.String()),
  /** Failure code; absent if the step succeeded. */
  code: Type.Optional(Type.String()),
  /** Present if another try follows. */
  willRetry: Type.Optional(Type.Literal(true)),
})
export type HandlerStepEndedEvent = Static<typeof HandlerStepEndedEvent>

/** The event types of this file, in the order of the union. */
export const TASK_EVENTS = [
  TaskStarted,
  TaskInput,
  TaskCompleted,
  TaskAttemptFailed,
  TaskFailed,
  TaskSkipped,
  MetricsSnapshot,
  HandlerStepEndedEvent,
] as const
