/** Pure: from tasks to what may run when, or every reason why they cannot run. */
import type { Workflow } from '@tutti/protocol'
import type { Task } from './task.ts'

/** Tasks and what each waits for. */
export interface Plan {
  readonly workflow: Workflow
  /** Task names in the order they were declared; in HIERARCHICAL the manager is the last. */
  readonly order: readonly string[]
  /** The tasks that start by themselves; the others only when the manager delegates them. */
  readonly scheduled: readonly string[]
  /** For each task the names of those that must be completed before it starts. */
  readonly waitsFor: ReadonlyMap<string, readonly string[]>
  /** For each task the names of those that must be over before it starts, however they ended. */
  readonly follows: ReadonlyMap<string, readonly string[]>
}

/** Why tasks cannot be planned. */
export interface PlanProblem {
  readonly code: 'CONFIG_INVALID' | 'CIRCULAR_DEPENDENCY'
  readonly message: string
}

/** A workflow that is not said: PARALLEL as soon as a task has context, else SEQUENTIAL. */
export function inferWorkflow(tasks: readonly Task[]): Workflow {
  return tasks.some((task) => task.context.length > 0) ? 'PARALLEL' : 'SEQUENTIAL'
}

/** The name and the role of the agent that leads a HIERARCHICAL ensemble. */
export const MANAGER = 'Manager'

/** The plan of tasks that {@link findPlanProblems} finds nothing wrong with. */
export function planTasks(tasks: readonly Task[], workflow: Workflow): Plan {
  const names = tasks.map((task) => task.name)
  const context = new Map(tasks.map((task) => [task.name, [...new Set(task.context)]]))
  switch (workflow) {
    case 'SEQUENTIAL': {
      const follows = new Map(
        names.map((name, index) => [name, names.slice(Math.max(0, index - 1), index)]),
      )
      return { workflow, order: names, scheduled: names, waitsFor: context, follows }
    }
    case 'PARALLEL':
      return { workflow, order: names, scheduled: names, waitsFor: context, follows: new Map() }
    case 'HIERARCHICAL':
      return {
        workflow,
        order: [...names, MANAGER],
        scheduled: [MANAGER],
        waitsFor: new Map(),
        follows: new Map(),
      }
  }
}

/** Everything that is wrong with the tasks of an ensemble, in one list. */
export function findPlanProblems(
  tasks: readonly Task[],
  workflow: Workflow,
): readonly PlanProblem[] {
  if (tasks.length === 0) return [invalid('an ensemble needs at least one task')]
  const names = tasks.map((task) => task.name)
  const problems = findDuplicates(names).map((name) => invalid(`two tasks are named "${name}"`))
  for (const [index, task] of tasks.entries()) {
    for (const wanted of task.context) {
      const message = contextProblem({ names, index, wanted, workflow })
      if (message !== undefined) problems.push(invalid(`task "${task.name}": ${message}`))
    }
  }
  if (workflow === 'HIERARCHICAL') problems.push(...findHierarchyProblems(tasks))
  // In SEQUENTIAL each step of a cycle has been named already: it does not come before.
  const cycle = workflow === 'SEQUENTIAL' ? undefined : findCycle(tasks)
  return cycle === undefined ? problems : [...problems, circular(cycle)]
}

/** In HIERARCHICAL a role stands for one task, and the manager is an agent like the others. */
function findHierarchyProblems(tasks: readonly Task[]): readonly PlanProblem[] {
  const roles = tasks.map(({ agent }) => agent.role)
  return [
    ...findDuplicates(roles).map((role) =>
      invalid(`two tasks have an agent with the role "${role}", as HIERARCHICAL does not allow`),
    ),
    ...tasks.flatMap(({ name, agent, handler }) => [
      ...(name === MANAGER || agent.role === MANAGER
        ? [invalid(`task "${name}": the name and the role "${MANAGER}" are those of the manager`)]
        : []),
      ...(handler === undefined
        ? []
        : [invalid(`task "${name}" has a handler, to which a manager cannot delegate`)]),
    ]),
  ]
}

/** Returns the names that occur more than once, each once. */
export function findDuplicates(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
}

interface ContextReference {
  readonly names: readonly string[]
  readonly index: number
  readonly wanted: string
  readonly workflow: Workflow
}

function contextProblem({ names, index, wanted, workflow }: ContextReference): string | undefined {
  const at = names.indexOf(wanted)
  if (at === -1)
    return `context names an unknown task "${wanted}". Available: [${names.join(', ')}]`
  if (workflow === 'SEQUENTIAL' && at >= index) {
    return `context "${wanted}" does not come before it, as SEQUENTIAL needs`
  }
  return undefined
}

function invalid(message: string): PlanProblem {
  return { code: 'CONFIG_INVALID', message }
}

function circular(cycle: readonly string[]): PlanProblem {
  return { code: 'CIRCULAR_DEPENDENCY', message: `Tasks form a cycle: ${cycle.join(' → ')}` }
}

/** The names along one cycle, first and last the same, or undefined when there is none. */
export function findCycle(tasks: readonly Task[]): readonly string[] | undefined {
  const context = new Map(tasks.map((task) => [task.name, task.context]))
  const done = new Set<string>()
  for (const { name } of tasks) {
    const cycle = findCycleFrom(name, context, done)
    if (cycle !== undefined) return cycle
  }
  return undefined
}

/** Goes depth first, in a loop: a chain of tasks may be longer than the stack is deep. */
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
