/** Finds the tasks whose output can be that of a run when conditions skip others. No I/O. */
import type { Choice, Plan } from './plan.ts'
import type { Task } from './task.ts'

/**
 * Returns the names of the tasks that can have the output of a completed run: the last declared one, and if conditions can skip
 * it those before it, back to one that certainly runs.
 */
export function listLastTasks(
  tasks: readonly Task[],
  plan: Pick<Plan, 'order' | 'choices' | 'needs' | 'outputTask'>,
): readonly string[] {
  const { order, choices, outputTask } = plan
  if (choices.length === 0) return [outputTask]
  const { certainTasks, certainSwitches } = findCertain(tasks, plan)
  const firstOf = ({ names }: Choice): number =>
    Math.min(...names.map((name) => order.indexOf(name)))
  const from = Math.max(
    0,
    order.findLastIndex((name) => certainTasks.has(name)),
    ...[...certainSwitches].map(firstOf),
  )
  return order.slice(from)
}

/** Returns the tasks that no condition skips, and the switches with a case that certainly runs. */
function findCertain(
  tasks: readonly Task[],
  { choices, needs }: Pick<Plan, 'choices' | 'needs'>,
): { readonly certainTasks: ReadonlySet<string>; readonly certainSwitches: ReadonlySet<Choice> } {
  const byName = new Map(tasks.map((task) => [task.name, task]))
  const chosen = new Set(choices.flatMap(({ names }) => names))
  const certainTasks = new Set<string>()
  const certainSwitches = new Set<Choice>()
  const hasContext = (name: string): boolean => {
    const { context = [] } = byName.get(name) ?? {}
    const known = new Set(context)
    const isComplete =
      context.length === 0 ||
      context.some((wanted) => certainTasks.has(wanted)) ||
      [...certainSwitches].some(({ names }) => names.every((one) => known.has(one)))
    return isComplete && (needs.get(name) ?? []).every((needed) => certainTasks.has(needed))
  }
  for (let count = -1; count < certainTasks.size + certainSwitches.size;) {
    count = certainTasks.size + certainSwitches.size
    for (const choice of choices) {
      const last = byName.get(choice.names.at(-1) ?? '')
      const hasElse = choice.switchName !== undefined && last?.when === undefined
      if (hasElse && choice.names.every(hasContext)) certainSwitches.add(choice)
    }
    for (const { name } of tasks) if (!chosen.has(name) && hasContext(name)) certainTasks.add(name)
  }
  return { certainTasks, certainSwitches }
}
