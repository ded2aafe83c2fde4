/** Metrics of a trace, by task and in total. Schema version 1.1. */
import Type from 'typebox'
import { CostUsd, Count, IsoDuration, mapOf, TokenCount } from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Amount in US dollars, as a number or as text. */
const TraceCostUsd = Type.Union([CostUsd, Type.String()])

/** Estimated cost. Exporters write numbers; the types of some viewers declare text. */
export const TraceCost = Type.Object({
  inputCost: TraceCostUsd,
  outputCost: TraceCostUsd,
  totalCost: TraceCostUsd,
  currency: Type.String(),
})
export type TraceCost = Static<typeof TraceCost>

/** Cost, or null when prices are not known. */
export const NullableTraceCost = Type.Union([TraceCost, Type.Null()])

const MemoryOperations = Type.Object({
  stmWrites: Count,
  ltmStores: Count,
  ltmRetrievals: Count,
  entityLookups: Count,
})

/** Metrics of one task. */
export const TraceTaskMetrics = Type.Object({
  /** -1 when not known. */
  inputTokens: TokenCount,
  /** -1 when not known. */
  outputTokens: TokenCount,
  /** -1 when not known. */
  totalTokens: TokenCount,
  /** Duration of all model calls. */
  llmLatency: IsoDuration,
  /** Duration of all tool calls. */
  toolExecutionTime: IsoDuration,
  memoryRetrievalTime: IsoDuration,
  promptBuildTime: IsoDuration,
  llmCallCount: Count,
  toolCallCount: Count,
  delegationCount: Count,
  memoryOperations: MemoryOperations,
  /** Estimated cost; null when prices are not known. */
  costEstimate: NullableTraceCost,
})
export type TraceTaskMetrics = Static<typeof TraceTaskMetrics>

/** Metrics of the whole run. */
export const TraceMetrics = Type.Object({
  /** -1 when not known. */
  totalInputTokens: TokenCount,
  /** -1 when not known. */
  totalOutputTokens: TokenCount,
  /** -1 when not known. */
  totalTokens: TokenCount,
  totalLlmLatency: IsoDuration,
  totalToolExecutionTime: IsoDuration,
  totalMemoryRetrievalTime: IsoDuration,
  totalPromptBuildTime: IsoDuration,
  totalLlmCallCount: Count,
  totalToolCalls: Count,
  totalDelegations: Count,
  memoryOperations: MemoryOperations,
  /** Metrics of the last task of each agent, by agent role. */
  taskMetrics: mapOf(TraceTaskMetrics),
  /** Estimated cost; null when prices are not known. */
  totalCostEstimate: NullableTraceCost,
})
export type TraceMetrics = Static<typeof TraceMetrics>
