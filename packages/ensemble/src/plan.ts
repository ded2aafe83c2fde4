/** Pure: from tasks to what may run when, or every reason why they cannot run. */
import { duplicates, type Task } from './task.ts'

/** How the tasks of an ensemble follow one another. */
export type Workflow = 'SEQUENTIAL' | 'PARALLEL'

/** Tasks and what each waits for. */
export interface Plan {
  readonly workflow: Workflow
  /** Task names in the order they were declared. */
  readonly order: readonly string[]
  /** For each task the names of those that must be done before it starts. */
  readonly waitsFor: ReadonlyMap<string, readonly string[]>
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

/** The plan of tasks that {@link findPlanProblems} finds nothing wrong with. */
export function planTasks(tasks: readonly Task[], workflow: Workflow): Plan {
  const order = tasks.map((task) => task.name)
  const waitsFor = new Map(
    tasks.map((task, index) => [
      task.name,
      workflow === 'PARALLEL'
        ? [...new Set(task.context)]
        : order.slice(Math.max(0, index - 1), index),
    ]),
  )
  return { workflow, order, waitsFor }
}

/** Everything that is wrong with the tasks of an ensemble, in one list. */
export function findPlanProblems(
  tasks: readonly Task[],
  workflow: Workflow,
): readonly PlanProblem[] {
  if (tasks.length === 0) return [invalid('an ensemble needs at least one task')]
  const names = tasks.map((task) => task.name)
  const problems = duplicates(names).map((name) => invalid(`two tasks are named "${name}"`))
  for (const [index, task] of tasks.entries()) {
    for (const wanted of task.context) {
      const message = contextProblem({ names, index, wanted, workflow })
      if (message !== undefined) problems.push(invalid(`task "${task.name}": ${message}`))
    }
  }
  // In SEQUENTIAL each step of a cycle has been named already: it does not come before.
  const cycle = workflow === 'PARALLEL' ? findCycle(tasks) : undefined
  return cycle === undefined ? problems : [...problems, circular(cycle)]
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
