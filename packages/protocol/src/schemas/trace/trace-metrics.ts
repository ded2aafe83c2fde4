/** The numbers of a trace, by task and in total. AgentEnsemble trace 1.1. */
import Type from 'typebox'
import { Count, IsoDuration, mapOf, TokenCount } from '../scalars.ts'

/** Estimated cost. JSON numbers from AgentEnsemble's exporter; its dashboard's types say text. */
export const TraceCost = Type.Object({
  inputCost: Type.Union([Type.Number(), Type.String()]),
  outputCost: Type.Union([Type.Number(), Type.String()]),
  totalCost: Type.Union([Type.Number(), Type.String()]),
  currency: Type.String(),
})
export type TraceCost = Type.Static<typeof TraceCost>

/** A cost, or null when prices are not known. */
export const NullableTraceCost = Type.Union([TraceCost, Type.Null()])

const MemoryOperations = Type.Object({
  stmWrites: Count,
  ltmStores: Count,
  ltmRetrievals: Count,
  entityLookups: Count,
})

/** What one task used. */
export const TraceTaskMetrics = Type.Object({
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  totalTokens: TokenCount,
  llmLatency: IsoDuration,
  toolExecutionTime: IsoDuration,
  memoryRetrievalTime: IsoDuration,
  promptBuildTime: IsoDuration,
  llmCallCount: Count,
  toolCallCount: Count,
  delegationCount: Count,
  memoryOperations: MemoryOperations,
  costEstimate: NullableTraceCost,
})
export type TraceTaskMetrics = Type.Static<typeof TraceTaskMetrics>

/** What the whole run used. */
export const TraceMetrics = Type.Object({
  totalInputTokens: TokenCount,
  totalOutputTokens: TokenCount,
  totalTokens: TokenCount,
  totalLlmLatency: IsoDuration,
  totalToolExecutionTime: IsoDuration,
  totalMemoryRetrievalTime: IsoDuration,
  totalPromptBuildTime: IsoDuration,
  totalLlmCallCount: Count,
  totalToolCalls: Count,
  totalDelegations: Count,
  memoryOperations: MemoryOperations,
  /** Agent role → metrics of its last task. */
  taskMetrics: mapOf(TraceTaskMetrics),
  totalCostEstimate: NullableTraceCost,
})
export type TraceMetrics = Type.Static<typeof TraceMetrics>
