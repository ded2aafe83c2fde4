/** Derives the numbers in a row of the graph. Pure. */
import type { TaskState } from '@tutti/protocol/internal'

/** Counts the tool calls of the current attempt. */
export function countToolCalls({ turns }: TaskState): number {
  return turns.reduce((sum, { toolCalls }) => sum + toolCalls.length, 0)
}

/** Returns the cost of all attempts, in US dollars; undefined if unknown. */
export function sumTaskCost({ usage, earlierAttempts }: TaskState): number | undefined {
  return [...earlierAttempts.map((attempt) => attempt.usage), usage].reduce<number | undefined>(
    (sum, { costUsd }) => (sum === undefined || costUsd === undefined ? undefined : sum + costUsd),
    0,
  )
}
