/** Pure: ids of tool calls that are unique in a run. Models repeat ids in other turns and tasks. */
import type { RunEventOf } from '@tutti/protocol'

type CallPosition = Pick<
  RunEventOf<'tool_called'>,
  'taskIndex' | 'attempt' | 'iterationIndex' | 'toolCallId'
>

/** Returns the id of a call that a model requested. */
export function toCallId({ taskIndex, attempt, iterationIndex, toolCallId }: CallPosition): string {
  return `${taskIndex}.${attempt}.${iterationIndex}:${toolCallId}`
}

/** Whether an id of {@link toCallId} is that of the call under a review; a review does not state the turn. */
export function isCallOf(
  id: string,
  { taskIndex, attempt, toolCallId }: RunEventOf<'review_requested'>,
): boolean {
  return (
    toolCallId !== undefined &&
    id.replace(/^(\d+\.\d+)\.\d+:/, '$1:') === `${taskIndex}.${attempt}:${toolCallId}`
  )
}
