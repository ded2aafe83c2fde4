/** Pure: the task whose work is shown. */
import type { RunState, TaskState } from '@tutti/protocol'

/**
 * The task that the reader has chosen; else the one that is most worth looking at: what waits for a
 * person, what runs, what has failed, what ended last.
 */
export function chosenTask(
  { tasks, gates }: RunState,
  chosen: string | undefined,
): string | undefined {
  if (tasks.some(({ name }) => name === chosen)) return chosen
  const held = gates.find(({ status }) => status === 'OPEN')?.taskName
  const inState = (status: TaskState['status']): string | undefined =>
    tasks.findLast((task) => task.status === status)?.name
  return held ?? inState('RUNNING') ?? inState('FAILED') ?? inState('COMPLETED') ?? tasks[0]?.name
}
