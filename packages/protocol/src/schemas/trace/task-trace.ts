/** Task of a trace: its prompts, model turns, tool calls and delegations. Schema version 1.1. */
import Type from 'typebox'
import { FinishReason } from '../enums.ts'
import { LlmMessage } from '../events/agent-events.ts'
import { turnReasoning } from '../events/positions.ts'
import { Count, Instant, IsoDuration, JsonObject, NullableText, TokenCount } from '../scalars.ts'
import { TraceTaskMetrics } from './trace-metrics.ts'

import type { Static } from '../../static.ts'

const span = { startedAt: Instant, completedAt: Instant }

/** Tool call of a trace. */
export const ToolCallTrace = Type.Object({
  toolName: Type.String(),
  /** Arguments as the model wrote them: JSON text. */
  arguments: Type.String(),
  /** Text that the model receives. */
  result: NullableText,
  /** Result as a JSON value. */
  structuredOutput: Type.Optional(Type.Unknown()),
  ...span,
  duration: IsoDuration,
  /** SUCCESS, FAILURE, ERROR or SKIPPED_MAX_ITERATIONS; readers must accept other values. */
  outcome: Type.String(),
  /** Present only with capture mode FULL. */
  parsedInput: Type.Union([JsonObject, Type.Null()]),
  metadata: JsonObject,
})
export type ToolCallTrace = Static<typeof ToolCallTrace>

/** Model turn of a trace, with the tool calls that it requested. */
export const LlmInteraction = Type.Object({
  iterationIndex: Count,
  ...span,
  /** Duration of the model call. */
  latency: IsoDuration,
  /** Tokens read; -1 when not known. */
  inputTokens: TokenCount,
  /** Tokens written; -1 when not known. */
  outputTokens: TokenCount,
  /** Whether the model requested tools or gave its final answer. */
  responseType: Type.Enum(['TOOL_CALLS', 'FINAL_ANSWER']),
  responseText: NullableText,
  toolCalls: Type.Array(ToolCallTrace),
  /** Messages that the model got. */
  messages: Type.Array(LlmMessage),
  /** Alias of the model; absent in traces of other servers. */
  model: Type.Optional(Type.String()),
  /** Reason why the answer ended; absent in traces of other servers. */
  finishReason: Type.Optional(FinishReason),
  /** Text of the provider about a refusal or a blocked answer. */
  refusal: Type.Optional(Type.String()),
  /** Part of `inputTokens` that the provider read from its cache; absent when it does not report it. */
  cachedInputTokens: Type.Optional(Count),
  ...turnReasoning,
})
export type LlmInteraction = Static<typeof LlmInteraction>

/** Task of a trace. Recursive: a delegation contains the trace of the worker's task. */
export const TaskTrace = Type.Cyclic(
  {
    TaskTrace: Type.Object({
      taskDescription: Type.String(),
      expectedOutput: Type.String(),
      agentRole: Type.String(),
      ...span,
      duration: IsoDuration,
      /** Prompts of the task; null when they are not captured. */
      prompts: Type.Union([
        Type.Object({ systemPrompt: Type.String(), userPrompt: Type.String() }),
        Type.Null(),
      ]),
      llmInteractions: Type.Array(LlmInteraction),
      delegations: Type.Array(
        Type.Object({
          delegatorRole: Type.String(),
          workerRole: Type.String(),
          taskDescription: Type.String(),
          ...span,
          duration: IsoDuration,
          depth: Count,
          result: NullableText,
          succeeded: Type.Boolean(),
          workerTrace: Type.Union([Type.Ref('TaskTrace'), Type.Null()]),
        }),
      ),
      /** Output of the task; null unless the attempt completed. */
      finalOutput: NullableText,
      /** Output as a JSON value. */
      parsedOutput: Type.Optional(Type.Unknown()),
      metrics: TraceTaskMetrics,
      /** Role in an adaptive map-reduce run: `map`, `reduce`, `final-reduce` or `direct`. */
      nodeType: Type.Optional(NullableText),
      mapReduceLevel: Type.Optional(Type.Union([Count, Type.Null()])),
      metadata: JsonObject,
    }),
  },
  'TaskTrace',
)
export type TaskTrace = Static<typeof TaskTrace>
