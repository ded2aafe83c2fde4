/** Finds the tasks whose output can be that of a run when conditions skip others. No I/O. */
import { mapPositions, type Choice, type Plan } from './plan.ts'
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
  const positions = mapPositions(order)
  // The names of a choice are in the order of declaration.
  const firstOf = ({ names: [first = ''] }: Choice): number => positions.get(first) ?? 0
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
  const choiceOf = new Map(choices.flatMap((choice) => choice.names.map((name) => [name, choice])))
  /** Cases of each switch whose context certainly runs. */
  const complete = new Map(choices.map((choice) => [choice, new Set<string>()]))
  const certainTasks = new Set<string>()
  const certainSwitches = new Set<Choice>()
  const hasContext = (name: string): boolean => {
    const { context = [] } = byName.get(name) ?? {}
    const isComplete =
      context.length === 0 ||
      context.some((wanted) => certainTasks.has(wanted)) ||
      hasWholeSwitch(context)
    return isComplete && (needs.get(name) ?? []).every((needed) => certainTasks.has(needed))
  }
  const hasWholeSwitch = (context: readonly string[]): boolean => {
    if (certainSwitches.size === 0) return false
    const named = new Set(context)
    const found = new Set(context.flatMap((name) => choiceOf.get(name) ?? []))
    return [...found].some(
      (choice) =>
        certainSwitches.has(choice) &&
        choice.names.length <= named.size &&
        choice.names.every((one) => named.has(one)),
    )
  }
  /** Returns the tasks that become certain with this one, or the cases of its switch. */
  const check = (name: string): readonly string[] => {
    if (!hasContext(name)) return []
    const choice = choiceOf.get(name)
    if (choice === undefined) {
      certainTasks.add(name)
      return [name]
    }
    const cases = complete.get(choice)?.add(name)
    const last = byName.get(choice.names.at(-1) ?? '')
    const hasElse = choice.switchName !== undefined && last?.when === undefined
    if (!hasElse || cases?.size !== choice.names.length) return []
    certainSwitches.add(choice)
    return choice.names
  }
  const after = mapFollowers(tasks, needs)
  const open = tasks.map(({ name }) => name)
  // The list grows while it is read: a task is checked again when one that it waits for becomes certain.
  for (const name of open) {
    const choice = choiceOf.get(name)
    const isKnown = choice === undefined ? certainTasks.has(name) : certainSwitches.has(choice)
    if (isKnown) continue
    for (const certain of check(name)) open.push(...(after.get(certain) ?? []))
  }
  return { certainTasks, certainSwitches }
}

/** Returns the names of the tasks that have each task in their context or need it. */
function mapFollowers(
  tasks: readonly Task[],
  needs: Plan['needs'],
): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, string[]>()
  for (const { name, context } of tasks) {
    for (const wanted of new Set([...context, ...(needs.get(name) ?? [])])) {
      const names = after.get(wanted) ?? []
      after.set(wanted, names)
      names.push(name)
    }
  }
  return after
}
