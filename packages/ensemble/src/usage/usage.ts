/** Pure: what work has used. A cost that is not known makes every sum it is in unknown, as tokens do. */
import { addTokens, NO_TOKENS, totalTokens, type TokenTotals } from './tokens.ts'

import type { CostEstimate } from '@tutti/protocol'

/** Usage of a task, or of an attempt. */
export interface Usage extends TokenTotals {
  readonly toolCallCount: number
  /** In US dollars; absent when the price of a call is not known. */
  readonly cost?: CostEstimate
  /** Input tokens that were read from a cache of the provider; absent when none is known. */
  readonly cachedInputTokens?: number
}

/** Work that has not begun. */
export const ZERO_USAGE: Usage = {
  ...NO_TOKENS,
  toolCallCount: 0,
  cost: { inputCost: 0, outputCost: 0 },
}

/** The sum of usages. */
export function addUsage(usages: readonly Usage[]): Usage {
  const cost = addCosts(usages.map((usage) => usage.cost))
  const cachedInputTokens = addCached(usages.map((usage) => usage.cachedInputTokens))
  return {
    ...addTokens(usages),
    toolCallCount: usages.reduce((sum, { toolCallCount }) => sum + toolCallCount, 0),
    ...(cost === undefined ? {} : { cost }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
  }
}

/** The sum of the counts that are known; undefined when none is. */
export function addCached(counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0)
}

/** The sum of costs; undefined as soon as one is not known. */
export function addCosts(costs: readonly (CostEstimate | undefined)[]): CostEstimate | undefined {
  let inputCost = 0
  let outputCost = 0
  for (const cost of costs) {
    if (cost === undefined) return undefined
    inputCost += cost.inputCost
    outputCost += cost.outputCost
  }
  return { inputCost, outputCost }
}

/** A usage as the metrics of a run say it. */
export function toRunMetrics(usage: Usage): {
  readonly totalTokens: number
  readonly totalToolCalls: number
  readonly costEstimate?: CostEstimate
} {
  return {
    totalTokens: totalTokens(usage),
    totalToolCalls: usage.toolCallCount,
    ...(usage.cost === undefined ? {} : { costEstimate: usage.cost }),
  }
}

/** A usage as the events of a task say it. */
export function usageFields({
  inputTokens,
  outputTokens,
  toolCallCount,
  cost,
  cachedInputTokens,
}: Usage): {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly toolCallCount: number
  readonly costUsd?: number
  readonly cachedInputTokens?: number
} {
  return {
    inputTokens,
    outputTokens,
    toolCallCount,
    ...(cost === undefined ? {} : { costUsd: costUsd(cost) }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
  }
}

/** The whole cost in US dollars. */
export function costUsd({ inputCost, outputCost }: CostEstimate): number {
  return inputCost + outputCost
}
