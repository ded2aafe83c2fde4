/** Computes the metrics of a trace. Pure. */
import { addCosts, addTokens, totalTokens } from '@tutti/protocol/internal'

import { formatJavaDuration } from './iso-duration.ts'

import type { TracedAttempt } from './attempts.ts'
import type { ExecutionTrace, TaskTrace } from '@tutti/protocol/internal'

type TaskMetrics = TaskTrace['metrics']
type RunMetrics = ExecutionTrace['metrics']
type Cost = Exclude<ExecutionTrace['totalCostEstimate'], null>

/** Cost of a run by input and output; known when the run has ended. */
export interface CostShares {
  readonly inputCost: number
  readonly outputCost: number
}

/** AgentEnsemble's memory operations, which this engine does not have. */
const NO_MEMORY = { stmWrites: 0, ltmStores: 0, ltmRetrievals: 0, entityLookups: 0 }

/** The sums behind the metrics of an attempt, in milliseconds and counts. */
export interface AttemptSums {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly llmMs: number
  readonly toolMs: number
  readonly llmCalls: number
  readonly toolCalls: number
  readonly delegations: number
  /** Cost in US dollars; undefined when a price is not known. */
  readonly costUsd: number | undefined
}

/** Sums the usage of an attempt so far. */
export function sumAttempt({ turns, delegations, used }: TracedAttempt): AttemptSums {
  const calls = turns.flatMap((turn) => turn.calls.map(({ event }) => event))
  const own = calls.filter(({ parentToolCallId }) => parentToolCallId === undefined)
  return {
    inputTokens: used.inputTokens,
    outputTokens: used.outputTokens,
    llmMs: turns.reduce((sum, { completed }) => sum + completed.latencyMs, 0),
    toolMs: own.reduce((sum, { durationMs }) => sum + durationMs, 0),
    llmCalls: turns.length,
    toolCalls: used.toolCalls,
    delegations: delegations.length,
    costUsd: used.costUsd,
  }
}

/** Adds the sums of several attempts. */
export function addSums(sums: readonly AttemptSums[]): AttemptSums {
  const add = (field: 'llmMs' | 'toolMs' | 'llmCalls' | 'toolCalls' | 'delegations'): number =>
    sums.reduce((total, sum) => total + sum[field], 0)
  return {
    ...addTokens(sums),
    llmMs: add('llmMs'),
    toolMs: add('toolMs'),
    llmCalls: add('llmCalls'),
    toolCalls: add('toolCalls'),
    delegations: add('delegations'),
    costUsd: addCosts(sums.map(({ costUsd }) => costUsd)),
  }
}

/** Converts sums to the metrics of one task. */
export function toTaskMetrics(sums: AttemptSums, shares: CostShares | undefined): TaskMetrics {
  return {
    inputTokens: sums.inputTokens,
    outputTokens: sums.outputTokens,
    totalTokens: totalTokens(sums),
    llmLatency: formatJavaDuration(sums.llmMs),
    toolExecutionTime: formatJavaDuration(sums.toolMs),
    memoryRetrievalTime: formatJavaDuration(0),
    promptBuildTime: formatJavaDuration(0),
    llmCallCount: sums.llmCalls,
    toolCallCount: sums.toolCalls,
    delegationCount: sums.delegations,
    memoryOperations: NO_MEMORY,
    costEstimate: estimateCost(sums.costUsd, shares),
  }
}

/** Converts sums to the metrics of the run. `byRole` holds the metrics of each agent's last task. */
export function toTraceMetrics(
  sums: AttemptSums,
  byRole: Readonly<Record<string, TaskMetrics>>,
  shares: CostShares | undefined,
): RunMetrics {
  return {
    totalInputTokens: sums.inputTokens,
    totalOutputTokens: sums.outputTokens,
    totalTokens: totalTokens(sums),
    totalLlmLatency: formatJavaDuration(sums.llmMs),
    totalToolExecutionTime: formatJavaDuration(sums.toolMs),
    totalMemoryRetrievalTime: formatJavaDuration(0),
    totalPromptBuildTime: formatJavaDuration(0),
    totalLlmCallCount: sums.llmCalls,
    totalToolCalls: sums.toolCalls,
    totalDelegations: sums.delegations,
    memoryOperations: NO_MEMORY,
    taskMetrics: byRole,
    totalCostEstimate: estimateCost(sums.costUsd, shares),
  }
}

/**
 * Splits a cost into input and output, as AgentEnsemble's format requires. Events have the cost of a task as one number,
 * so the shares of the whole run are assumed.
 */
function estimateCost(costUsd: number | undefined, shares: CostShares | undefined): Cost | null {
  if (costUsd === undefined || shares === undefined) return null
  const whole = shares.inputCost + shares.outputCost
  const inputCost = whole === 0 ? 0 : (costUsd * shares.inputCost) / whole
  return { inputCost, outputCost: costUsd - inputCost, totalCost: costUsd, currency: 'USD' }
}
