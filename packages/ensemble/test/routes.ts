/** Generates graphs with conditions and switches, and computes the end of each task by the rule alone. */
import { condition, type Task, type TaskDefinition } from '../src/index.ts'

import type { TaskPhase } from '../src/definition/schedule.ts'

/** A task of a route. Its condition is true if `reads` has an even number of outputs, or the opposite. */
export interface RouteTask {
  readonly name: string
  readonly context: readonly string[]
  readonly fails: boolean
  readonly switchName?: string
  readonly when?: { readonly reads: readonly string[]; readonly isEven: boolean }
}

/** Returns a graph in the order of its edges. Every switch that a task needs has an else. */
export function createRoute(
  random: () => number,
  count: number,
  { failing = 0.1 } = {},
): readonly RouteTask[] {
  const tasks: RouteTask[] = []
  const pick = (share: number): readonly string[] =>
    tasks.map(({ name }) => name).filter(() => random() < share)
  while (tasks.length < count) {
    const isSwitch = random() < 0.4
    const cases = isSwitch ? 2 + Math.floor(random() * 2) : 1
    const hasElse = random() < 0.7
    const context = pick(0.3)
    const created = Array.from({ length: cases }, (_, at): RouteTask => {
      const isElse = isSwitch && hasElse && at === cases - 1
      const isConditional = isElse ? false : isSwitch || random() < 0.4
      return {
        name: `t${tasks.length + at}`,
        context: random() < 0.7 ? context : pick(0.3),
        fails: random() < failing,
        ...(isSwitch ? { switchName: `s${tasks.length}` } : {}),
        ...(isConditional ? { when: { reads: pick(0.3), isEven: random() < 0.5 } } : {}),
      }
    })
    tasks.push(...created)
  }
  const unmatched = new Set(
    tasks
      .filter(({ switchName, when }) => switchName !== undefined && when === undefined)
      .map(({ switchName }) => switchName),
  )
  const isSafe = (name: string): boolean => {
    const found = tasks.find((one) => one.name === name)
    return found?.switchName === undefined || unmatched.has(found.switchName)
  }
  return tasks.map((one) => ({ ...one, context: one.context.filter(isSafe) }))
}

/** Computes the end of each task by the rule alone. */
export function computePhases(
  route: readonly RouteTask[],
): ReadonlyMap<string, TaskPhase | 'excluded'> {
  const phases = new Map<string, TaskPhase | 'excluded'>()
  const isTrue = ({ when }: RouteTask): boolean => {
    if (when === undefined) return true
    const outputs = when.reads.filter((name) => phases.get(name) === 'completed')
    return (outputs.length % 2 === 0) === when.isEven
  }
  for (const one of route) {
    const cases = route.filter(
      ({ name, switchName }) => name === one.name || (switchName ?? name) === one.switchName,
    )
    const isChosen = cases.find(isTrue) === one
    const context = one.context.map((name) => phases.get(name))
    const isLost = context.some((phase) => phase === 'failed' || phase === 'skipped')
    const isExcluded = context.length > 0 && context.every((phase) => phase === 'excluded')
    if (!isChosen) phases.set(one.name, 'excluded')
    else if (isLost) phases.set(one.name, 'skipped')
    else if (isExcluded) phases.set(one.name, 'excluded')
    else phases.set(one.name, one.fails ? 'failed' : 'completed')
  }
  return phases
}

/** Returns the condition and the switch of a task, which reads `tasks`. */
export function toChoice(
  { switchName, when }: RouteTask,
  tasks: ReadonlyMap<string, Task>,
): Pick<TaskDefinition<undefined>, 'when' | 'switch'> {
  return {
    ...(switchName === undefined ? {} : { switch: switchName }),
    ...(when === undefined
      ? {}
      : {
          when:
            when.reads.length === 0
              ? () => when.isEven
              : condition(
                  when.reads.flatMap((read) => tasks.get(read) ?? []),
                  (outputs: readonly unknown[]) =>
                    (outputs.filter((output) => output !== undefined).length % 2 === 0) ===
                    when.isEven,
                ),
        }),
  }
}
