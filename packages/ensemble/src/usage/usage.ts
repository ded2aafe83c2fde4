/** Pure: usage of work. A sum with an unknown cost is unknown, as with tokens. */
import {
  addAmounts,
  addReported,
  addTokens,
  totalTokens,
  type CostEstimate,
  type UsageSum,
} from '@tutti/protocol/internal'

/** Usage of a task or an attempt. */
export interface Usage extends Omit<UsageSum, 'costUsd'> {
  readonly toolCallCount: number
  /** Cost in US dollars; absent if the price of a call is unknown. */
  readonly cost?: CostEstimate
}

/** Usage of work that has not begun. */
export const ZERO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  toolCallCount: 0,
  cost: { inputCost: 0, outputCost: 0 },
}

/** Returns the sum of usages. */
export function addUsage(usages: readonly Usage[]): Usage {
  const cost = addCostEstimates(usages.map((usage) => usage.cost))
  const cachedInputTokens = addReported(usages.map((usage) => usage.cachedInputTokens))
  const reasoningTokens = addReported(usages.map((usage) => usage.reasoningTokens))
  const toolCallCount = usages.reduce((sum, usage) => sum + usage.toolCallCount, 0)
  let usage: Usage = { ...addTokens(usages), toolCallCount }
  if (cost !== undefined) usage = { ...usage, cost }
  if (cachedInputTokens !== undefined) usage = { ...usage, cachedInputTokens }
  if (reasoningTokens !== undefined) usage = { ...usage, reasoningTokens }
  return usage
}

/** Returns the sum of costs; undefined if any is unknown. */
export function addCostEstimates(
  costs: readonly (CostEstimate | undefined)[],
): CostEstimate | undefined {
  let inputCost = 0
  let outputCost = 0
  for (const cost of costs) {
    if (cost === undefined) return undefined
    inputCost = addAmounts(inputCost, cost.inputCost)
    outputCost = addAmounts(outputCost, cost.outputCost)
  }
  return { inputCost, outputCost }
}

/** Converts usage to the metrics of a run. */
export function toRunMetrics(usage: Usage): {
  readonly totalTokens: number
  readonly totalToolCalls: number
  readonly costEstimate?: CostEstimate
  readonly costUsd?: number
} {
  const { cost } = usage
  const counts = { totalTokens: totalTokens(usage), totalToolCalls: usage.toolCallCount }
  if (cost === undefined) return counts
  return { ...counts, costEstimate: cost, costUsd: sumCostUsd(cost) }
}

/** Returns usage as the fields of task events. */
export function toUsageFields({
  inputTokens,
  outputTokens,
  toolCallCount,
  cost,
  cachedInputTokens,
  reasoningTokens,
}: Usage): UsageSum & { readonly toolCallCount: number } {
  return {
    inputTokens,
    outputTokens,
    toolCallCount,
    ...(cost === undefined ? {} : { costUsd: sumCostUsd(cost) }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}

/** Returns the total cost in US dollars. */
export function sumCostUsd({ inputCost, outputCost }: CostEstimate): number {
  return addAmounts(inputCost, outputCost)
}
