/** Pure: finds the task whose output is that of a run. */
import type { RunState } from '@tutti/protocol'

/** Returns the name of the last planned task; undefined before the run has started. */
export function findFinalTask({ tasks }: Pick<RunState, 'tasks'>): string | undefined {
  return tasks.findLast(({ delegatedBy }) => delegatedBy === undefined)?.name
}
