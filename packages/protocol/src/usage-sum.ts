/**
 * Pure: sums of usage.
 *
 * PROTO-U1 A sum with an unknown number of tokens or an unknown cost is unknown.
 * PROTO-U2 Tokens that only some providers report, which were read from a cache or used to reason, have the sum of the
 *    known numbers.
 */
import { addAmounts } from './amounts.ts'

/** Input and output tokens. */
export interface TokenTotals {
  /** -1 when not known. */
  readonly inputTokens: number
  /** -1 when not known. */
  readonly outputTokens: number
}

/** Tokens and cost of some work. */
export interface UsageSum extends TokenTotals {
  /** In US dollars; absent when not known. */
  readonly costUsd?: number
  /** Part of `inputTokens` that was read from a cache; absent when no provider reported it. */
  readonly cachedInputTokens?: number
  /** Part of `outputTokens` that models used to reason; absent when no provider reported it. */
  readonly reasoningTokens?: number
}

/** Usage of work that has not begun. */
export const NO_USAGE: UsageSum = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

/** Returns the sum of usages. */
export function addUsageSums(usages: readonly UsageSum[]): UsageSum {
  const costUsd = addCosts(usages.map((usage) => usage.costUsd))
  const cachedInputTokens = addReported(usages.map((usage) => usage.cachedInputTokens))
  const reasoningTokens = addReported(usages.map((usage) => usage.reasoningTokens))
  return {
    ...addTokens(usages),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}

/** Returns the sums of input and of output tokens. */
export function addTokens(counts: readonly TokenTotals[]): TokenTotals {
  let inputTokens = 0
  let outputTokens = 0
  for (const count of counts) {
    inputTokens = addCount(inputTokens, count.inputTokens)
    outputTokens = addCount(outputTokens, count.outputTokens)
  }
  return { inputTokens, outputTokens }
}

/** Returns the number of input and output tokens together; -1 if either is unknown. */
export function totalTokens({ inputTokens, outputTokens }: TokenTotals): number {
  return addCount(inputTokens, outputTokens)
}

/** Returns the sum of counts; -1 if any of them is. */
export function addCounts(counts: readonly number[]): number {
  return counts.reduce((sum, count) => addCount(sum, count), 0)
}

function addCount(one: number, other: number): number {
  return one < 0 || other < 0 ? -1 : addAmounts(one, other)
}

/** Returns the sum of costs in US dollars; undefined if any of them is. */
export function addCosts(costs: readonly (number | undefined)[]): number | undefined {
  return costs.reduce<number | undefined>(
    (sum, cost) => (sum === undefined || cost === undefined ? undefined : addAmounts(sum, cost)),
    0,
  )
}

/** Returns the sum of the known counts; undefined if none is known. */
export function addReported(counts: readonly (number | undefined)[]): number | undefined {
  let sum: number | undefined
  for (const count of counts) {
    if (count !== undefined) sum = addAmounts(sum ?? 0, count)
  }
  return sum
}
