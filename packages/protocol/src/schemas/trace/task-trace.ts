/** One task of a trace: its prompts, model turns, tool calls and delegations. AgentEnsemble trace 1.1. */
import Type from 'typebox'
import { FinishReason } from '../enums.ts'
import { LlmMessage } from '../events/agent-events.ts'
import { Count, Instant, IsoDuration, JsonObject, NullableText, TokenCount } from '../scalars.ts'
import { TraceTaskMetrics } from './trace-metrics.ts'

const span = { startedAt: Instant, completedAt: Instant }

/** One tool call. */
export const ToolCallTrace = Type.Object({
  toolName: Type.String(),
  arguments: Type.String(),
  result: NullableText,
  structuredOutput: Type.Optional(Type.Unknown()),
  ...span,
  duration: IsoDuration,
  /** SUCCESS, FAILURE, ERROR or SKIPPED_MAX_ITERATIONS; open, as readers must show what they get. */
  outcome: Type.String(),
  /** Present at capture mode FULL only. */
  parsedInput: Type.Union([JsonObject, Type.Null()]),
  metadata: JsonObject,
})
export type ToolCallTrace = Type.Static<typeof ToolCallTrace>

/** One model turn with the tool calls it asked for. */
export const LlmInteraction = Type.Object({
  iterationIndex: Count,
  ...span,
  latency: IsoDuration,
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  responseType: Type.Enum(['TOOL_CALLS', 'FINAL_ANSWER']),
  responseText: NullableText,
  toolCalls: Type.Array(ToolCallTrace),
  messages: Type.Array(LlmMessage),
  /** Alias of the model that answered; traces of AgentEnsemble and of earlier versions lack it. Ours. */
  model: Type.Optional(Type.String()),
  /** Finish reason of the answer. Ours; absent in traces of AgentEnsemble and of earlier versions. */
  finishReason: Type.Optional(FinishReason),
  /** Text of the provider about a refusal or a blocked answer. Ours. */
  refusal: Type.Optional(Type.String()),
  /** Those of `inputTokens` that the provider read from its cache, when it says. Ours. */
  cachedInputTokens: Type.Optional(Count),
})
export type LlmInteraction = Type.Static<typeof LlmInteraction>

/** One task. Recursive: a delegation holds the trace of the worker's task. */
export const TaskTrace = Type.Cyclic(
  {
    TaskTrace: Type.Object({
      taskDescription: Type.String(),
      expectedOutput: Type.String(),
      agentRole: Type.String(),
      ...span,
      duration: IsoDuration,
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
      /** Null unless the attempt completed. */
      finalOutput: NullableText,
      parsedOutput: Type.Optional(Type.Unknown()),
      metrics: TraceTaskMetrics,
      /** map, reduce, final-reduce or direct, in adaptive map-reduce runs. */
      nodeType: Type.Optional(NullableText),
      mapReduceLevel: Type.Optional(Type.Union([Count, Type.Null()])),
      metadata: JsonObject,
    }),
  },
  'TaskTrace',
)
export type TaskTrace = Type.Static<typeof TaskTrace>
