/** Pure: what the spans of a run are called, so that their ids follow from it. Those of the run and of its tool calls are in `@tutti/core`. */
import { toolCallSpanKey } from '@tutti/core'

/** Which attempt of which task an event is of. */
export interface TaskPlace {
  readonly taskIndex: number
  readonly attempt: number
}

/** The attempt, as a text; the parts of it are found by this. */
export function taskKey(runId: string, { taskIndex, attempt }: TaskPlace): string {
  return `${runId}/task:${taskIndex}:${attempt}`
}

/** A model call: the `number`th of this turn, from 1. */
export function chatKey(task: string, iterationIndex: number, number: number): string {
  return `${task}/chat:${iterationIndex}:${number}`
}

/** A tool call, as whoever hands out its context calls it. */
export function callKey(
  runId: string,
  place: TaskPlace & { readonly iterationIndex: number; readonly toolCallId: string },
): string {
  const { taskIndex, attempt, iterationIndex, toolCallId } = place
  return toolCallSpanKey({ runId, taskIndex, attempt, iterationIndex, toolCallId })
}

/** A try of a tool call to ask an agent: the `number`th from 1, also over a crash. */
export function agentKey(call: string, number: number): string {
  return `${call}/agent:${number}`
}

export function reviewKey(runId: string, reviewId: string): string {
  return `${runId}/review:${reviewId}`
}

export function delegationKey(runId: string, delegationId: string): string {
  return `${runId}/delegation:${delegationId}`
}
