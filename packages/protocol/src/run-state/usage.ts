/**
 * Pure: what attempts have used. A number of tokens that one model call does not say makes the sum -1,
 * a cost that one call does not say makes the sum absent.
 */
import type { AgentUsage } from './agent-calls.ts'
import type { TaskState } from './task-state.ts'
import type { TurnState } from './turn-state.ts'

/** What one attempt of a task used. */
export interface AttemptUsage {
  /** -1 when not known. */
  readonly inputTokens: number
  /** -1 when not known. */
  readonly outputTokens: number
  /** Tool calls that ended; a step of a call does not count. */
  readonly toolCallCount: number
  /** In US dollars; absent when not known. */
  readonly costUsd?: number
}

/** What all tasks of a run used. */
export interface RunTotals {
  /** -1 when not known. */
  readonly totalTokens: number
  readonly totalToolCalls: number
  /** In US dollars; absent when not known. */
  readonly costUsd?: number
}

/** The usage of an attempt that has done nothing yet. */
export const NO_USAGE: AttemptUsage = {
  inputTokens: 0,
  outputTokens: 0,
  toolCallCount: 0,
  costUsd: 0,
}

/** The totals of a run in which nothing has been done yet. */
export const NO_TOTALS: RunTotals = { totalTokens: 0, totalToolCalls: 0, costUsd: 0 }

/** A usage as the end of an attempt says it. */
export function toUsage({
  inputTokens,
  outputTokens,
  toolCallCount,
  costUsd,
}: AttemptUsage): AttemptUsage {
  return {
    inputTokens,
    outputTokens,
    toolCallCount,
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/**
 * What the turns so far used, and the agents that were asked; a turn that runs or has failed has used
 * nothing that is known.
 */
export function usageOfAttempt(turns: readonly TurnState[], agents: AgentUsage): AttemptUsage {
  const ended = turns.filter(({ status }) => status === 'COMPLETED')
  const calls = turns.flatMap(({ toolCalls }) => toolCalls)
  const costUsd = sumOfCosts([...ended, agents])
  return {
    inputTokens: sumOfTokens([
      agents.inputTokens,
      ...ended.map(({ inputTokens = -1 }) => inputTokens),
    ]),
    outputTokens: sumOfTokens([
      agents.outputTokens,
      ...ended.map(({ outputTokens = -1 }) => outputTokens),
    ]),
    toolCallCount: calls.filter(isCounted).length,
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** What all attempts of all tasks used. */
export function totalsOf(tasks: readonly TaskState[]): RunTotals {
  const usages = tasks.flatMap((task) => [
    ...task.earlierAttempts.map(({ usage }) => usage),
    task.usage,
  ])
  const costUsd = sumOfCosts(usages)
  return {
    totalTokens: sumOfTokens(
      usages.flatMap(({ inputTokens, outputTokens }) => [inputTokens, outputTokens]),
    ),
    totalToolCalls: usages.reduce((sum, { toolCallCount }) => sum + toolCallCount, 0),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

function isCounted({ status, parentToolCallId }: TurnState['toolCalls'][number]): boolean {
  return status !== 'RUNNING' && parentToolCallId === undefined
}

function sumOfTokens(counts: readonly number[]): number {
  return counts.includes(-1) ? -1 : counts.reduce((sum, count) => sum + count, 0)
}

function sumOfCosts(parts: readonly { readonly costUsd?: number }[]): number | undefined {
  let sum = 0
  for (const { costUsd } of parts) {
    if (costUsd === undefined) return undefined
    sum += costUsd
  }
  return sum
}
