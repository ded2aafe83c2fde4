/**
 * Pure: finds the tasks that the overrides of a request change.
 *
 * RUNS-V1 A key is the name of a task of the plan, exact or in any case; otherwise the name of a task that one of them adds,
 *    after its name and `/`; otherwise the start of one description, in any case.
 * RUNS-V6 Below a task with `forEach`, the name of a task of its sub-ensemble means that task for all items. Any other text is
 *    the key of an item, which the name of a task of the sub-ensemble can follow.
 * RUNS-V7 Below any other task that runs an ensemble, a name is that of a task of the ensemble, in all rounds of a task with
 *    `loop`. Tasks that code adds, or that agents delegate, are not known before the run, so no key matches them.
 */
import type { Task } from '@tutti/ensemble'
import { cachePerObject } from '@tutti/core/internal'
import {
  countWhere,
  findSubEnsemble,
  listWorkingTasks,
  PrefixIndex,
} from '@tutti/ensemble/internal'
import { shortList, shortText, suggest } from '@tutti/protocol/internal'

/** A step from the plan to a task: the name of a task, or the key of an item. */
export interface OverrideStep {
  readonly kind: 'task' | 'item'
  readonly name: string
}

/** Ensemble that a task of a run runs. */
export type NestedEnsemble = NonNullable<ReturnType<typeof findSubEnsemble>>['definition']

/** The task that an override changes. */
export interface OverrideTarget {
  /** Steps to the task, at least one. */
  readonly steps: readonly OverrideStep[]
  /** The task before the override: for items, the task of all items. */
  readonly task: Task
  /** Sub-ensemble of the task; absent for a task of the plan, and of its items. */
  readonly within?: NestedEnsemble
}

/** A task that keys can match. */
export type NamedTask = Pick<Task, 'name' | 'description'>

/** Describes why a key means no task. Only reported problems are described: that costs a search for similar names. */
export type Unmatched = () => string

/** Tasks by what a key can match. */
interface TaskIndex {
  readonly byName: ReadonlyMap<string, readonly Task[]>
  /** By their names in lower case. */
  readonly bySimilarName: ReadonlyMap<string, readonly Task[]>
  /** The tasks that add tasks, by the start of the names of these. */
  readonly adding: PrefixIndex<Task>
  /** The same in lower case. */
  readonly similarAdding: PrefixIndex<Task>
  /** The descriptions by the authors in lower case and in their order, with the positions of their tasks. */
  readonly described: readonly { readonly text: string; readonly position: number }[]
}

/** Returns the index of tasks, made once: a request can have as many overrides as tasks. */
const indexTasks = cachePerObject((tasks: readonly Task[]): TaskIndex => {
  const adding = tasks.filter(
    (task) => task.forEach !== undefined || typeof task.handler === 'function',
  )
  return {
    byName: Map.groupBy(tasks, ({ name }) => name),
    bySimilarName: Map.groupBy(tasks, ({ name }) => name.toLowerCase()),
    adding: new PrefixIndex(adding.map((task) => [`${task.name}/`, task])),
    similarAdding: new PrefixIndex(adding.map((task) => [`${task.name.toLowerCase()}/`, task])),
    described: tasks
      .map((task, position) => ({ text: toAuthoredText(task).toLowerCase(), position }))
      .toSorted((one, other) => (one.text < other.text ? -1 : 1)),
  }
})

/** Returns the task that a key means, or the reason why it means none. */
export function locateOverride(tasks: readonly Task[], key: string): OverrideTarget | Unmatched {
  const named = locateByName(tasks, key, undefined)
  if (named !== undefined) return named
  const described = key.trim() === '' ? [] : findDescribed(tasks, key.toLowerCase())
  return described.length === 0
    ? () => describeUnmatched(tasks, key)
    : chooseOne(described, key, {})
}

/** Returns the tasks whose descriptions begin with a text in lower case, in their order. */
function findDescribed(tasks: readonly Task[], wanted: string): readonly Task[] {
  const { described } = indexTasks(tasks)
  const from = countWhere(described, ({ text }) => text < wanted)
  const to = countWhere(described, ({ text }) => text < wanted || text.startsWith(wanted))
  const positions = described.slice(from, to).map(({ position }) => position)
  return positions.toSorted((one, other) => one - other).flatMap((at) => tasks[at] ?? [])
}

/** Returns the description by the author of a task, which a task with `forEach` or `loop` has for its items or rounds. */
function toAuthoredText(task: Task): string {
  return findWorkingTask(task).description
}

/** Returns the task of all items and rounds of a task, or the task itself. */
function findWorkingTask(task: Task): Task {
  const [working = task] = listWorkingTasks(task)
  return working
}

function locateByName(
  tasks: readonly Task[],
  key: string,
  within: NestedEnsemble | undefined,
): OverrideTarget | Unmatched | undefined {
  const parts = within === undefined ? {} : { within }
  const { byName, bySimilarName, adding, similarAdding } = indexTasks(tasks)
  const wanted = key.toLowerCase()
  const found = byName.get(key) ?? bySimilarName.get(wanted)
  if (found !== undefined) return chooseOne(found, key, parts)
  const [parent = [...similarAdding.find(wanted)][0]] = adding.find(key)
  if (parent === undefined) return undefined
  const below = locateBelow(parent, key.slice(parent.name.length + 1), parts)
  if (typeof below === 'function') return below
  return { ...below, steps: [{ kind: 'task', name: parent.name }, ...below.steps] }
}

function locateBelow(
  task: Task,
  rest: string,
  parts: Pick<OverrideTarget, 'within'>,
): OverrideTarget | Unmatched {
  const { forEach } = task
  const nested = findSubEnsemble(findWorkingTask(task))?.definition
  if (forEach === undefined) {
    if (nested === undefined && task.loop !== undefined) {
      return () =>
        `The rounds of task '${shortText(task.name)}' cannot be changed one by one: '${shortText(rest)}'`
    }
    if (nested === undefined) {
      return () =>
        `The code of task '${shortText(task.name)}' adds its tasks, which an override cannot change: '${shortText(rest)}'`
    }
    return locateByName(nested.tasks, rest, nested) ?? (() => describeUnmatched(nested.tasks, rest))
  }
  const ofItems = nested && locateByName(nested.tasks, rest, nested)
  if (typeof ofItems === 'object') return ofItems
  return locateInItem(rest, nested) ?? toItem(rest, [], { ...parts, task: forEach.template })
}

/** Returns the task of a sub-ensemble after the key of an item; undefined if no part of the text is its name. */
function locateInItem(
  rest: string,
  nested: NestedEnsemble | undefined,
): OverrideTarget | undefined {
  if (nested === undefined) return undefined
  for (let at = rest.indexOf('/'); at !== -1; at = rest.indexOf('/', at + 1)) {
    const found = locateByName(nested.tasks, rest.slice(at + 1), nested)
    if (typeof found === 'object') return toItem(rest.slice(0, at), found.steps, found)
  }
  return undefined
}

function toItem(
  name: string,
  steps: readonly OverrideStep[],
  parts: Omit<OverrideTarget, 'steps'>,
): OverrideTarget {
  return { ...parts, steps: [{ kind: 'item', name }, ...steps] }
}

function chooseOne(
  [task, ...others]: readonly Task[],
  key: string,
  parts: Pick<OverrideTarget, 'within'>,
): OverrideTarget | Unmatched {
  if (task !== undefined && others.length === 0) {
    return { ...parts, steps: [{ kind: 'task', name: task.name }], task }
  }
  return () => {
    const names = [task, ...others].flatMap((one) => one?.name ?? [])
    return `'${shortText(key)}' matches several tasks: [${shortList(names)}]. Use an exact name`
  }
}

function describeUnmatched(tasks: readonly NamedTask[], key: string): string {
  const names = tasks.map(({ name }) => name)
  const near = suggest(key, names)
  const hint = near === undefined ? '' : `. Did you mean '${near}'?`
  return `No task matching '${shortText(key)}'. Available: [${shortList(names)}]${hint}`
}

/** Returns the JSON Pointer of an override. */
export function overridePath(key: string): string {
  return `/taskOverrides/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
