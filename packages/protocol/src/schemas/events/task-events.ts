/** Events of one task: started, input, completed, failed, skipped, and its metrics. */
import Type from 'typebox'
import { CostUsd, Count, DurationMs, Instant, NullableText, TokenCount } from '../scalars.ts'
import { FinishReason } from '../enums.ts'
import { MessagePart } from '../message-part.ts'
import { taskAttempt, taskLabel } from './positions.ts'

/** A task begins a try. `taskIndex` counts from 1 and is unique in its run. AgentEnsemble wire. */
export const TaskStarted = Type.Object({
  type: Type.Literal('task_started'),
  taskIndex: Count,
  totalTasks: Count,
  ...taskLabel,
  startedAt: Instant,
  ...taskAttempt,
})
export type TaskStarted = Type.Static<typeof TaskStarted>

/** What the agent was given, before its first model call. AgentEnsemble wire. */
export const TaskInput = Type.Object({
  type: Type.Literal('task_input'),
  /** 0 when the worker has no number of its own (AgentEnsemble); ours is always from 1. */
  taskIndex: Count,
  taskDescription: Type.String(),
  expectedOutput: Type.String(),
  agentRole: Type.String(),
  agentGoal: Type.String(),
  agentBackground: NullableText,
  toolNames: Type.Array(Type.String()),
  /** The outputs of other tasks as put before the agent; cut at 8,000 characters. */
  assembledContext: Type.String(),
  sentAt: Instant,
  ...taskAttempt,
})
export type TaskInput = Type.Static<typeof TaskInput>

/**
 * A task ended well, after its review. Its tokens, tool calls and cost are those of this attempt.
 * `output` and what follows it are ours. AgentEnsemble wire.
 */
export const TaskCompleted = Type.Object({
  type: Type.Literal('task_completed'),
  taskIndex: Count,
  totalTasks: Count,
  ...taskLabel,
  completedAt: Instant,
  durationMs: DurationMs,
  tokenCount: TokenCount,
  toolCallCount: Count,
  ...taskAttempt,
  output: Type.String(),
  /** The output as a value, when the task declares an output schema. */
  structuredOutput: Type.Optional(Type.Unknown()),
  /** Files, URLs and data that a handler gave; A2A clients get them in place of `output`. */
  parts: Type.Optional(Type.Array(MessagePart)),
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  /** True when the agent was made to answer because its model turns were used up. */
  iterationLimitReached: Type.Boolean(),
  /** Absent when no price is known. */
  costUsd: Type.Optional(CostUsd),
  /** Those of `inputTokens` that were read from a cache of the provider; absent when none is known. */
  cachedInputTokens: Type.Optional(Count),
  /**
   * Finish reason of the last answer of the model; `length` when a cut answer was accepted. Absent for a task
   * without a model, and in logs of earlier versions.
   */
  finishReason: Type.Optional(FinishReason),
})
export type TaskCompleted = Type.Static<typeof TaskCompleted>

const failedAttempt = {
  taskIndex: Count,
  ...taskLabel,
  failedAt: Instant,
  reason: Type.String(),
  ...taskAttempt,
  durationMs: DurationMs,
  /** One of `FAILURE_CODES`; open text, so that an older reader can still read a newer log. */
  code: Type.String(),
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  toolCallCount: Count,
  /** Absent when no price is known. */
  costUsd: Type.Optional(CostUsd),
  /** Those of `inputTokens` that were read from a cache of the provider; absent when none is known. */
  cachedInputTokens: Type.Optional(Count),
  /** Present when the attempt failed because a model ended its answer early: why it did. */
  finishReason: Type.Optional(FinishReason),
  /** Text of the provider about a refusal or a blocked answer. */
  refusal: Type.Optional(Type.String()),
}

/**
 * An attempt at a task failed, by itself or by its reviewer (code REVIEW_REJECTED), and another one follows:
 * a `task_started` with the next attempt. Tokens, tool calls and cost are those of this attempt. An event of
 * its own, because AgentEnsemble's viewer shows a task as failed for good after `task_failed`. Ours.
 */
export const TaskAttemptFailed = Type.Object({
  type: Type.Literal('task_attempt_failed'),
  ...failedAttempt,
  willRetry: Type.Literal(true),
})
export type TaskAttemptFailed = Type.Static<typeof TaskAttemptFailed>

/**
 * A task failed, by itself or by its reviewer (code REVIEW_REJECTED). Tokens, tool calls and cost are those
 * of its last attempt. AgentEnsemble wire.
 */
export const TaskFailed = Type.Object({
  type: Type.Literal('task_failed'),
  ...failedAttempt,
  /** True only in logs of earlier versions, which had no `task_attempt_failed`. */
  willRetry: Type.Boolean(),
})
export type TaskFailed = Type.Static<typeof TaskFailed>

/** A task will not run, because one it needs failed or the run ends. Ours. */
export const TaskSkipped = Type.Object({
  type: Type.Literal('task_skipped'),
  taskIndex: Count,
  taskName: Type.String(),
  taskDescription: Type.String(),
  skippedAt: Instant,
  reason: Type.String(),
})
export type TaskSkipped = Type.Static<typeof TaskSkipped>

/** Running totals of one task. Declared by AgentEnsemble, and shown by its dashboard when sent. */
export const MetricsSnapshot = Type.Object({
  type: Type.Literal('metrics_snapshot'),
  agentRole: Type.String(),
  taskIndex: Count,
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  llmLatencyMs: DurationMs,
  toolExecutionTimeMs: DurationMs,
  iterationCount: Count,
  /** A decimal number of US dollars as text, as AgentEnsemble declares it. */
  costEstimate: Type.Optional(Type.String()),
  /** Those of `inputTokens` that were read from a cache of the provider; absent when none is known. */
  cachedInputTokens: Type.Optional(Count),
  ...taskAttempt,
})
export type MetricsSnapshot = Type.Static<typeof MetricsSnapshot>
