/** Pure: what a row of the graph says of its task. */
import type { RunState, TaskState } from '@tutti/protocol'

/** Names of the tasks that wait for a person. */
export function heldTasks(gates: RunState['reviews']): ReadonlySet<string> {
  return new Set(gates.flatMap(({ status, taskName }) => (status === 'OPEN' ? [taskName] : [])))
}

/** Tool calls of this attempt; steps of calls do not count. */
export function toolCallsOf({ turns }: TaskState): number {
  return turns.reduce((sum, { toolCalls }) => sum + toolCalls.length, 0)
}

/** What all attempts have cost, in US dollars; undefined when that is not known. */
export function taskCost({ usage, earlierAttempts }: TaskState): number | undefined {
  return [...earlierAttempts.map((attempt) => attempt.usage), usage].reduce<number | undefined>(
    (sum, { costUsd }) => (sum === undefined || costUsd === undefined ? undefined : sum + costUsd),
    0,
  )
}
