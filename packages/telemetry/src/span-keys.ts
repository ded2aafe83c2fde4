/** Pure: keys from which the ids of spans are computed. `@tutti/core` has those of the run and of its tool calls. */
import { toolCallSpanKey } from '@tutti/core/internal'

/** Task and attempt of an event. */
export interface TaskPosition {
  readonly taskIndex: number
  readonly attempt: number
}

/** Returns the key of a task attempt, with which the keys of its parts begin. */
export function taskKey(runId: string, { taskIndex, attempt }: TaskPosition): string {
  return `${runId}/task:${taskIndex}:${attempt}`
}

/** Returns the key of a model call: the `number`th of its turn, from 1. */
export function chatKey(task: string, iterationIndex: number, number: number): string {
  return `${task}/chat:${iterationIndex}:${number}`
}

/** Returns the key of a tool call, which its trace context uses too. */
export function callKey(
  runId: string,
  position: TaskPosition & { readonly iterationIndex: number; readonly toolCallId: string },
): string {
  const { taskIndex, attempt, iterationIndex, toolCallId } = position
  return toolCallSpanKey({ runId, taskIndex, attempt, iterationIndex, toolCallId })
}

/** Returns the key of a request to an agent: the `number`th of its call, from 1, counted across crashes. */
export function agentKey(call: string, number: number): string {
  return `${call}/agent:${number}`
}

export function reviewKey(runId: string, reviewId: string): string {
  return `${runId}/review:${reviewId}`
}

export function delegationKey(runId: string, delegationId: string): string {
  return `${runId}/delegation:${delegationId}`
}
