/** Adding, moving and taking away tasks of a draft. Pure. */
import { nextKey, withField, type TaskDraft } from './draft.ts'

/** The tasks with a new one at the end. */
export function withNewTask(tasks: readonly TaskDraft[]): readonly TaskDraft[] {
  return [...tasks, { key: nextKey(tasks, 't') }]
}

/** The tasks with a copy of one after it; the copy has a name of its own. */
export function withCopy(tasks: readonly TaskDraft[], at: number): readonly TaskDraft[] {
  const original = tasks[at]
  if (original === undefined) return tasks
  const { name } = original
  const copy = { ...original, key: nextKey(tasks, 't') }
  const named = name === undefined ? copy : { ...copy, name: freeName(name, tasks) }
  return tasks.toSpliced(at + 1, 0, named)
}

/** The tasks with one at another place. */
export function withMoved(
  tasks: readonly TaskDraft[],
  from: number,
  to: number,
): readonly TaskDraft[] {
  const moved = tasks[from]
  if (moved === undefined || to < 0 || to >= tasks.length) return tasks
  return tasks.toSpliced(from, 1).toSpliced(to, 0, moved)
}

/** The tasks without one; nobody waits for it any more. */
export function withoutTask(tasks: readonly TaskDraft[], at: number): readonly TaskDraft[] {
  const key = tasks[at]?.key
  return tasks.toSpliced(at, 1).map((task) => {
    if (key === undefined || task.context?.includes(key) !== true) return task
    return withField(
      task,
      'context',
      task.context.filter((other) => other !== key),
    )
  })
}

function freeName(name: string, tasks: readonly TaskDraft[]): string {
  const taken = new Set(tasks.map((task) => task.name))
  let number = 2
  while (taken.has(`${name}-${number}`)) number += 1
  return `${name}-${number}`
}
