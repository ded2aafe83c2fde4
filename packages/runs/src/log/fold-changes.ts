/** Pure: joins the changes of one write, so that a store updates each row once. */
import type { Change } from '../domain/change.ts'

/** Changes of the row of a run. */
export type RunChange = Extract<Change, { readonly kind: 'run' }>

/** Changes of the row of a task. */
export type TaskChange = Extract<Change, { readonly kind: 'task' }>

/** Changes with the effect of a list of changes. */
export interface FoldedChanges {
  /** Changes of other rows than those of tasks and of the run, in order; new tasks come before their changes. */
  readonly others: readonly Exclude<Change, RunChange | TaskChange>[]
  /** In order; several for one task only if it began several attempts. */
  readonly tasks: readonly TaskChange[]
  readonly run: RunChange
}

/** Joins changes of one run, which are in order. */
export function foldChanges(changes: readonly Change[]): FoldedChanges {
  const others: Exclude<Change, RunChange | TaskChange>[] = []
  const tasks: TaskChange[] = []
  let run: RunChange = { kind: 'run', set: {} }
  for (const change of changes) {
    if (change.kind === 'run') run = joinRunChanges(run, change)
    else if (change.kind === 'task') addTaskChange(tasks, change)
    else others.push(change)
  }
  return { others, tasks, run }
}

function joinRunChanges(first: RunChange, next: RunChange): RunChange {
  const completed = (first.addCompletedTasks ?? 0) + (next.addCompletedTasks ?? 0)
  const set = { ...first.set, ...next.set }
  // A run that was cancelled before its start remains CANCELLING when it starts.
  if (first.set.status === 'CANCELLING' && next.set.status === 'RUNNING') set.status = 'CANCELLING'
  return {
    kind: 'run',
    set,
    ...(completed === 0 ? {} : { addCompletedTasks: completed }),
    ...(first.countTasks === true || next.countTasks === true ? { countTasks: true } : {}),
  }
}

function addTaskChange(tasks: TaskChange[], change: TaskChange): void {
  const at = tasks.findLastIndex(({ taskIndex }) => taskIndex === change.taskIndex)
  const earlier = tasks[at]
  if (earlier === undefined || change.newAttempt === true) tasks.push(change)
  else tasks[at] = joinTaskChanges(earlier, change)
}

/** Joins two changes of one task; `next` begins no attempt. */
function joinTaskChanges(first: TaskChange, next: TaskChange): TaskChange {
  const { addToolCalls: earlier, ...joined } = { ...first, set: { ...first.set, ...next.set } }
  const { toolCallCount } = joined.set
  // A count that was set before replaces the calls added until then.
  const added =
    (next.set.toolCallCount === undefined ? (earlier ?? 0) : 0) + (next.addToolCalls ?? 0)
  if (added === 0) return joined
  if (toolCallCount === undefined) return { ...joined, addToolCalls: added }
  return { ...joined, set: { ...joined.set, toolCallCount: toolCallCount + added } }
}
