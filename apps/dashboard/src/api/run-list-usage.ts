/** Pure: sums of what attempts have used. What is not known of one is not known of all. */
import type { ListEvent } from './server-feed.ts'
import type { RunMetrics, RunSummary } from '@tutti/protocol'

/** What was used. */
export interface Used {
  /** -1 when not known. */
  readonly tokens: number
  readonly toolCalls: number
  /** In US dollars; absent when not known. */
  readonly costUsd?: number
}

/** Nothing was used. */
export const NOTHING_USED: Used = { tokens: 0, toolCalls: 0, costUsd: 0 }

/** The sum of all. */
export function addUsed(all: readonly Used[]): Used {
  let tokens = 0
  let toolCalls = 0
  let costUsd: number | undefined = 0
  for (const used of all) {
    tokens = tokens < 0 || used.tokens < 0 ? -1 : tokens + used.tokens
    toolCalls += used.toolCalls
    costUsd =
      costUsd === undefined || used.costUsd === undefined ? undefined : costUsd + used.costUsd
  }
  return usedOf(tokens, toolCalls, costUsd)
}

/** A sum without parts of it. */
export function lessUsed(sum: Used, parts: readonly Used[]): Used {
  const { tokens, toolCalls, costUsd } = addUsed(parts)
  return usedOf(
    sum.tokens < 0 || tokens < 0 ? -1 : sum.tokens - tokens,
    sum.toolCalls - toolCalls,
    sum.costUsd === undefined || costUsd === undefined ? undefined : sum.costUsd - costUsd,
  )
}

/** What a line says was used. */
export function usedOfSummary({ totalTokens, totalToolCalls, costUsd }: RunSummary): Used {
  return usedOf(totalTokens, totalToolCalls, costUsd)
}

/** What an attempt has used so far; its tool calls are told at its end. */
export function usedSoFar({
  inputTokens,
  outputTokens,
  costEstimate,
}: ListEvent & { readonly type: 'metrics_snapshot' }): Omit<Used, 'toolCalls'> {
  const cost = costEstimate === undefined ? undefined : Number(costEstimate)
  const { tokens, costUsd } = usedOf(sumOf(inputTokens, outputTokens), 0, cost)
  return { tokens, ...(costUsd === undefined ? {} : { costUsd }) }
}

/** What an attempt has used in all. */
export function usedAtEnd({
  inputTokens,
  outputTokens,
  toolCallCount,
  costUsd,
}: ListEvent & { readonly type: 'task_completed' | 'task_attempt_failed' | 'task_failed' }): Used {
  return usedOf(sumOf(inputTokens, outputTokens), toolCallCount, costUsd)
}

/** What a run has used, as its end says it. */
export function usedInAll({
  totalTokens,
  totalToolCalls,
  costUsd,
  costEstimate,
}: RunMetrics): Used {
  const estimate = costEstimate && costEstimate.inputCost + costEstimate.outputCost
  return usedOf(totalTokens, totalToolCalls, costUsd ?? estimate)
}

/** Sums as a line has them. */
export function sumsOf({
  tokens,
  toolCalls,
  costUsd,
}: Used): Pick<RunSummary, 'totalTokens' | 'totalToolCalls' | 'costUsd'> {
  return {
    totalTokens: tokens,
    totalToolCalls: toolCalls,
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

function sumOf(input: number, output: number): number {
  return input < 0 || output < 0 ? -1 : input + output
}

/** What has used no tokens has cost nothing, also without a price. */
function usedOf(tokens: number, toolCalls: number, cost: number | undefined): Used {
  const costUsd = cost ?? (tokens === 0 ? 0 : undefined)
  return { tokens, toolCalls, ...(costUsd === undefined ? {} : { costUsd }) }
}
