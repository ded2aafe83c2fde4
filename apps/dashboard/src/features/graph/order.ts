/** Pure: tasks in an order in which each comes after what leads to it. */
import type { GraphTask } from './structure.ts'

/**
 * The tasks from top to bottom: as they are listed, as far as what leads to them allows; what was
 * delegated right below who did so. A file may tell of a circle: its tasks come as they are listed.
 */
export function topToBottom(tasks: readonly GraphTask[]): readonly GraphTask[] {
  const below = new Map<string, GraphTask[]>()
  for (const task of tasks) {
    const [delegator] = task.after
    if (!task.isDelegated || delegator === undefined) continue
    below.set(delegator, [...(below.get(delegator) ?? []), task])
  }
  const placed = new Set<string>()
  const order: GraphTask[] = []
  const place = (task: GraphTask): void => {
    if (placed.has(task.name)) return
    placed.add(task.name)
    order.push(task)
    for (const other of below.get(task.name) ?? []) place(other)
  }
  const waiting = tasks.filter(({ isDelegated }) => !isDelegated)
  while (waiting.length > 0) {
    const ready = waiting.findIndex(({ after }) => after.every((name) => placed.has(name)))
    for (const task of waiting.splice(Math.max(0, ready), 1)) place(task)
  }
  for (const task of tasks) place(task)
  return order
}
