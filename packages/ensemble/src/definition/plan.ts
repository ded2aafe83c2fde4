/** Pure: plans when each task can run, or finds every reason why the tasks cannot run. */
import type { Workflow } from '@tutti/protocol/internal'
import type { Task } from './task.ts'

/** Tasks and their order. */
export interface Plan {
  readonly workflow: Workflow
  /** Task names in the order of declaration; in HIERARCHICAL the manager is last. */
  readonly order: readonly string[]
  /** Name of the task whose output is the run's output: the last one in `order`. */
  readonly outputTask: string
  /** Tasks that the engine starts; the others run only when the manager delegates them. */
  readonly scheduled: readonly string[]
  /** Names of the tasks that must be completed before each task starts. */
  readonly waitsFor: ReadonlyMap<string, readonly string[]>
  /** Names of the tasks that must have ended, with any outcome, before each task starts. */
  readonly follows: ReadonlyMap<string, readonly string[]>
}

/** Reason why tasks cannot be planned. */
export interface PlanProblem {
  readonly code: 'CONFIG_INVALID' | 'CIRCULAR_DEPENDENCY'
  readonly message: string
}

/** Returns the default workflow: PARALLEL if a task has context, else SEQUENTIAL. */
export function inferWorkflow(tasks: readonly Task[]): Workflow {
  return tasks.some((task) => task.context.length > 0) ? 'PARALLEL' : 'SEQUENTIAL'
}

/** Name and role of the manager of a HIERARCHICAL ensemble. */
export const MANAGER = 'Manager'

/** Plans tasks without problems; see {@link findPlanProblems}. */
export function planTasks(tasks: readonly Task[], workflow: Workflow): Plan {
  const names = tasks.map((task) => task.name)
  const context = new Map(tasks.map((task) => [task.name, [...new Set(task.context)]]))
  const order = workflow === 'HIERARCHICAL' ? [...names, MANAGER] : names
  const shared = { workflow, order, outputTask: order.at(-1) ?? '' }
  switch (workflow) {
    case 'SEQUENTIAL': {
      const follows = new Map(
        names.map((name, index) => [name, names.slice(Math.max(0, index - 1), index)]),
      )
      return { ...shared, scheduled: names, waitsFor: context, follows }
    }
    case 'PARALLEL':
      return { ...shared, scheduled: names, waitsFor: context, follows: new Map() }
    case 'HIERARCHICAL':
      return {
        ...shared,
        scheduled: [MANAGER],
        waitsFor: new Map(),
        follows: new Map(),
      }
  }
}

/** Finds all problems in the tasks of an ensemble. */
export function findPlanProblems(
  tasks: readonly Task[],
  workflow: Workflow,
): readonly PlanProblem[] {
  if (tasks.length === 0) return [createConfigProblem('an ensemble needs at least one task')]
  const names = tasks.map((task) => task.name)
  const problems = findDuplicates(names).map((name) =>
    createConfigProblem(`two tasks are named "${name}"`),
  )
  for (const [index, task] of tasks.entries()) {
    for (const wanted of task.context) {
      const message = findContextProblem({ names, index, wanted, workflow })
      if (message !== undefined)
        problems.push(createConfigProblem(`task "${task.name}": ${message}`))
    }
  }
  if (workflow === 'HIERARCHICAL') problems.push(...findHierarchyProblems(tasks))
  // In SEQUENTIAL, every edge of a cycle that points forward is already reported.
  const cycle = workflow === 'SEQUENTIAL' ? undefined : findCycle(tasks)
  return cycle === undefined ? problems : [...problems, createCycleProblem(cycle)]
}

/**
 * Finds the problems of a HIERARCHICAL ensemble: a role identifies one task, and the manager's role and name
 * are reserved.
 */
function findHierarchyProblems(tasks: readonly Task[]): readonly PlanProblem[] {
  const roles = tasks.map(({ agent }) => agent.role)
  return [
    ...findDuplicates(roles).map((role) =>
      createConfigProblem(
        `two tasks have an agent with the role "${role}"; HIERARCHICAL needs unique roles`,
      ),
    ),
    ...tasks.flatMap(({ name, agent, handler }) => [
      ...(name === MANAGER || agent.role === MANAGER
        ? [
            createConfigProblem(
              `task "${name}": the name and the role "${MANAGER}" are reserved for the manager`,
            ),
          ]
        : []),
      ...(handler === undefined
        ? []
        : [
            createConfigProblem(
              `task "${name}" has a handler; a manager can delegate only to agents`,
            ),
          ]),
    ]),
  ]
}

/** Returns the names that occur more than once, each once. */
export function findDuplicates(names: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  const again = names.filter((name) => seen.size === seen.add(name).size)
  return [...new Set(again)]
}

interface ContextReference {
  readonly names: readonly string[]
  readonly index: number
  readonly wanted: string
  readonly workflow: Workflow
}

function findContextProblem({
  names,
  index,
  wanted,
  workflow,
}: ContextReference): string | undefined {
  const at = names.indexOf(wanted)
  if (at === -1)
    return `context names an unknown task "${wanted}". Available: [${names.join(', ')}]`
  if (workflow === 'SEQUENTIAL' && at >= index) {
    return `context "${wanted}" must be declared before it in SEQUENTIAL`
  }
  return undefined
}

function createConfigProblem(message: string): PlanProblem {
  return { code: 'CONFIG_INVALID', message }
}

function createCycleProblem(cycle: readonly string[]): PlanProblem {
  return { code: 'CIRCULAR_DEPENDENCY', message: `Tasks form a cycle: ${cycle.join(' → ')}` }
}

/**
 * Returns the names along one cycle, first and last the same; undefined if there is no cycle.
 */
export function findCycle(
  tasks: readonly Pick<Task, 'name' | 'context'>[],
): readonly string[] | undefined {
  const context = new Map(tasks.map((task) => [task.name, task.context]))
  const done = new Set<string>()
  for (const { name } of tasks) {
    const cycle = findCycleFrom(name, context, done)
    if (cycle !== undefined) return cycle
  }
  return undefined
}

/**
 * Searches depth first without recursion, because a chain of tasks can be longer than the call stack allows.
 */
function findCycleFrom(
  start: string,
  context: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
): readonly string[] | undefined {
  const path = new Set<string>()
  const levels = [{ name: '', before: [start].values() }]
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { value: name, done: finished } = level.before.next()
    if (finished === true) {
      levels.pop()
      path.delete(level.name)
      done.add(level.name)
    } else if (path.has(name)) {
      const names = [...path]
      return [...names.slice(names.indexOf(name)), name]
    } else if (!done.has(name)) {
      path.add(name)
      levels.push({ name, before: (context.get(name) ?? []).values() })
    }
  }
  return undefined
}
