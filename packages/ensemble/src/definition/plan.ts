/**
 * Pure: plans when each task can run, or finds every reason why the tasks cannot run.
 *
 * ENS-X8 Conditions and switches are checked before anything runs: unknown tasks, cycles, the order of cases, and HIERARCHICAL,
 *    where the manager chooses the tasks.
 */
import type { Workflow } from '@tutti/protocol/internal'

import { findDuplicates } from './find-duplicates.ts'
import { toWorkerRole, type Task } from './task.ts'

/** Tasks and their order. */
export interface Plan {
  readonly workflow: Workflow
  /** Task names in the order of declaration; in HIERARCHICAL the manager is last. */
  readonly order: readonly string[]
  /**
   * Name of the task whose output is the run's output: the last one in `order`, or the one that a sub-ensemble's task chooses.
   */
  readonly outputTask: string
  /**
   * Tasks that can have the run's output, in their order: `outputTask`, and the tasks before it if conditions can skip it and no
   * definition chooses it.
   */
  readonly lastTasks: readonly string[]
  /** Tasks that the engine starts; the others run only when the manager delegates them. */
  readonly scheduled: readonly string[]
  /** Names of the tasks that must be completed before each task starts. */
  readonly waitsFor: ReadonlyMap<string, readonly string[]>
  /** Names of the tasks that must have ended, with any outcome, before each task starts. */
  readonly follows: ReadonlyMap<string, readonly string[]>
  /** Choices between tasks, in the order of their first task. */
  readonly choices: readonly Choice[]
  /** Names of the tasks of its context without which a task cannot run: they have its list, or inputs of its ensemble. */
  readonly needs: ReadonlyMap<string, readonly string[]>
}

/** A plan without the parts that follow from the contents of the tasks. */
export type BarePlan = Omit<Plan, 'needs' | 'lastTasks'>

/** A choice between tasks, at most one of them runs: the cases of a switch, or one task with a condition. */
export interface Choice {
  /** Names of the tasks in the order of declaration. */
  readonly names: readonly string[]
  /** Names of the tasks that their conditions read. */
  readonly reads: readonly string[]
  /** Name of the switch; absent for a task that belongs to none. */
  readonly switchName?: string
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
export function planTasks(tasks: readonly Task[], workflow: Workflow): BarePlan {
  const names = tasks.map((task) => task.name)
  const context = new Map(tasks.map((task) => [task.name, [...new Set(task.context)]]))
  const order = workflow === 'HIERARCHICAL' ? [...names, MANAGER] : names
  const shared = {
    workflow,
    order,
    outputTask: order.at(-1) ?? '',
    choices: workflow === 'HIERARCHICAL' ? [] : listChoices(tasks),
  }
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

/** Returns the choices between tasks. */
function listChoices(tasks: readonly GraphTask[]): readonly Choice[] {
  const choices = new Map<string | GraphTask, GraphTask[]>()
  for (const task of tasks) {
    if (task.when === undefined && task.switch === undefined) continue
    const key = task.switch ?? task
    const cases = choices.get(key) ?? []
    choices.set(key, cases)
    cases.push(task)
  }
  return [...choices].map(([key, cases]) => ({
    names: cases.map(({ name }) => name),
    reads: [...new Set(cases.flatMap(({ when }) => when?.reads ?? []))],
    ...(typeof key === 'string' ? { switchName: key } : {}),
  }))
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
  const positions = mapPositions(names)
  for (const [index, task] of tasks.entries()) {
    for (const wanted of task.context) {
      const message = findContextProblem({ positions, index, wanted, workflow })
      if (message !== undefined)
        problems.push(createConfigProblem(`task "${task.name}": ${message}`))
    }
  }
  problems.push(...findChoiceProblems(tasks, workflow))
  if (workflow === 'HIERARCHICAL') problems.push(...findHierarchyProblems(tasks))
  // In SEQUENTIAL, every edge of a cycle that points forward is already reported.
  const cycle = workflow === 'SEQUENTIAL' ? undefined : findCycle(tasks)
  return cycle === undefined ? problems : [...problems, createCycleProblem(cycle)]
}

/** Returns the position of each name, the first one of a repeated name. */
export function mapPositions(names: readonly string[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>()
  for (const [index, name] of names.entries()) {
    if (!positions.has(name)) positions.set(name, index)
  }
  return positions
}

/** Finds the problems of conditions and switches. */
function findChoiceProblems(tasks: readonly Task[], workflow: Workflow): readonly PlanProblem[] {
  const positions = mapPositions(tasks.map(({ name }) => name))
  const byName = new Map(tasks.map((task) => [task.name, task]))
  return listChoices(tasks).flatMap((choice) => {
    const cases = choice.names.flatMap((name) => byName.get(name) ?? [])
    const group = toCaseGroup(choice)
    const problems = cases.flatMap((task) => [
      ...findReadProblems(task, group, { positions, workflow }).map((message) =>
        toText(task, message),
      ),
      ...findCaseProblems(task, group).map(({ message }) => toText(task, message)),
    ])
    const missing = findMissingCondition(choice, cases)
    return [...problems, ...(missing === undefined ? [] : [missing])].map(createConfigProblem)
  })
}

/** A problem of a switch, in one of its cases. */
export interface SwitchProblem {
  /** Name of the case. */
  readonly taskName: string
  /** Option of the case. */
  readonly option: 'switch' | 'when' | 'context'
  /** Name of the other case in the option; absent if there is none. */
  readonly other?: string
  readonly message: string
}

/** Finds the problems of switches, apart from those of the tasks that their conditions read. */
export function findSwitchProblems(tasks: readonly GraphTask[]): readonly SwitchProblem[] {
  const byName = new Map(tasks.map((task) => [task.name, task]))
  return listChoices(tasks).flatMap((choice) => {
    const cases = choice.names.flatMap((name) => byName.get(name) ?? [])
    const [first = ''] = choice.names
    const group = toCaseGroup(choice)
    const missing = findMissingCondition(choice, cases)
    return [
      ...cases.flatMap((task) => findCaseProblems(task, group)),
      ...(missing === undefined
        ? []
        : [{ taskName: first, option: 'switch' as const, message: missing }]),
    ]
  })
}

/** A choice with its names as a set, in the same order. */
interface CaseGroup extends Pick<Choice, 'switchName'> {
  readonly cases: ReadonlySet<string>
  readonly first: string
  readonly last: string
}

function toCaseGroup({ names, switchName }: Choice): CaseGroup {
  const ends = { first: names[0] ?? '', last: names.at(-1) ?? '' }
  return { cases: new Set(names), ...ends, ...(switchName === undefined ? {} : { switchName }) }
}

/** Returns a problem if no case of a switch has a condition. */
function findMissingCondition(
  { switchName }: Choice,
  cases: readonly GraphTask[],
): string | undefined {
  const hasCondition = cases.some(({ when }) => when !== undefined)
  return switchName === undefined || hasCondition
    ? undefined
    : `switch "${switchName}" needs a case with a condition (when)`
}

function toText({ name }: GraphTask, message: string): string {
  return `task "${name}": ${message}`
}

/** Returns the problems of the tasks that a condition reads. */
function findReadProblems(
  { when }: Task,
  { cases, first, switchName }: CaseGroup,
  { positions, workflow }: Pick<ContextReference, 'positions' | 'workflow'>,
): readonly string[] {
  if (workflow === 'HIERARCHICAL') {
    return ['when and switch have no effect in HIERARCHICAL: the manager chooses the tasks']
  }
  return (when?.reads ?? []).flatMap((wanted) => {
    const at = positions.get(wanted)
    if (at === undefined)
      return [`when reads an unknown task "${wanted}". Available: [${listKeys(positions)}]`]
    if (cases.has(wanted)) {
      return switchName === undefined ? ['when cannot read the task itself'] : []
    }
    if (workflow !== 'SEQUENTIAL' || at < (positions.get(first) ?? 0)) return []
    return [
      switchName === undefined
        ? `when reads "${wanted}", which must be declared before it in SEQUENTIAL`
        : `when reads "${wanted}", which must be declared before "${first}", the first case of its switch, in SEQUENTIAL`,
    ]
  })
}

/** Returns the problems of a case of a switch. */
function findCaseProblems(
  { name: taskName, when, context }: GraphTask,
  { cases, last, switchName }: CaseGroup,
): readonly SwitchProblem[] {
  if (switchName === undefined) return []
  const isLast = last === taskName
  return [
    ...(when === undefined && !isLast
      ? [
          {
            taskName,
            option: 'switch' as const,
            message: `it has no condition (when), so it must be the last case of switch "${switchName}"`,
          },
        ]
      : []),
    ...(when?.reads ?? [])
      .filter((wanted) => cases.has(wanted))
      .map((other) => ({
        taskName,
        option: 'when' as const,
        other,
        message: `when reads "${other}", which is a case of the same switch`,
      })),
    ...context
      .filter((wanted) => wanted !== taskName && cases.has(wanted))
      .map((other) => ({
        taskName,
        option: 'context' as const,
        other,
        message: `context "${other}" is another case of its switch, so only one of them can run`,
      })),
  ]
}

/**
 * Finds the problems of a HIERARCHICAL ensemble: a role identifies one task, and the manager's role and name
 * are reserved.
 */
function findHierarchyProblems(tasks: readonly Task[]): readonly PlanProblem[] {
  const roles = tasks.map(toWorkerRole)
  return [
    ...findDuplicates(roles).map((role) =>
      createConfigProblem(`two tasks have the role "${role}"; HIERARCHICAL needs unique roles`),
    ),
    ...tasks
      .filter(({ name, agent }) => name === MANAGER || agent.role === MANAGER)
      .map(({ name }) =>
        createConfigProblem(
          `task "${name}": the name and the role "${MANAGER}" are reserved for the manager`,
        ),
      ),
  ]
}

interface ContextReference {
  /** Positions of all tasks by name. */
  readonly positions: ReadonlyMap<string, number>
  readonly index: number
  readonly wanted: string
  readonly workflow: Workflow
}

function findContextProblem({
  positions,
  index,
  wanted,
  workflow,
}: ContextReference): string | undefined {
  const at = positions.get(wanted)
  if (at === undefined)
    return `context names an unknown task "${wanted}". Available: [${listKeys(positions)}]`
  if (workflow === 'SEQUENTIAL' && at >= index) {
    return `context "${wanted}" must be declared before it in SEQUENTIAL`
  }
  return undefined
}

function listKeys(positions: ReadonlyMap<string, number>): string {
  return [...positions.keys()].join(', ')
}

function createConfigProblem(message: string): PlanProblem {
  return { code: 'CONFIG_INVALID', message }
}

function createCycleProblem(cycle: readonly string[]): PlanProblem {
  return { code: 'CIRCULAR_DEPENDENCY', message: `Tasks form a cycle: ${cycle.join(' → ')}` }
}

/** Fields that say for what a task waits. */
type GraphTask = Pick<Task, 'name' | 'context' | 'when' | 'switch'>

/**
 * Returns the names along one cycle, first and last the same; undefined if there is no cycle.
 */
export function findCycle(tasks: readonly GraphTask[]): readonly string[] | undefined {
  const before = new Map(tasks.map((task) => [task.name, task.context]))
  for (const { names, reads } of listChoices(tasks)) {
    const cases = new Set(names)
    const others = reads.filter((name) => !cases.has(name))
    for (const name of names) before.set(name, [...(before.get(name) ?? []), ...others])
  }
  const done = new Set<string>()
  for (const { name } of tasks) {
    const cycle = findCycleFrom(name, before, done)
    if (cycle !== undefined) return cycle
  }
  return undefined
}

/**
 * Searches depth first without recursion, because a chain of tasks can be longer than the call stack allows.
 */
function findCycleFrom(
  start: string,
  before: ReadonlyMap<string, readonly string[]>,
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
      levels.push({ name, before: (before.get(name) ?? []).values() })
    }
  }
  return undefined
}
