/**
 * Groups of tasks that the same task has added. A large group is one row until the reader opens it. Pure.
 *
 * DASH-TG1 The tasks that one task has added form a group if there are more than `MAX_PLAIN` of them. Fewer
 *    are shown like tasks of the plan.
 * DASH-TG2 A group is folded until the reader opens it, or a link leads to a task in it.
 * DASH-TG3 The rows of an open group are those of the tasks whose key contains the searched text, each
 *    with the tasks that it has added.
 */
import { findTask, type TaskState } from '@tutti/protocol/internal'

import { labelHold, labelTask, type Shown } from '../ui/labels.ts'

import type { RunState } from '@tutti/protocol'

/** Maximum number of added tasks that are shown without a group. */
export const MAX_PLAIN = 20

/** Tasks that one task has added. */
export interface TaskGroup {
  /** Unique among the names of tasks and groups. */
  readonly name: string
  /** Name of the task that has added them. */
  readonly parent: string
  readonly tasks: readonly TaskState[]
}

/** The tasks of a run, by group. */
export interface GroupedTasks {
  /** Tasks in no group, in the order of the run. */
  readonly plain: readonly TaskState[]
  /** Group of each task that has one, by the name of the task. */
  readonly groupOf: ReadonlyMap<string, TaskGroup>
  /** Tasks that a task has added, by the name of that task. */
  readonly added: ReadonlyMap<string, readonly TaskState[]>
}

/** The reader's view of a group. */
export interface GroupView {
  readonly isOpen: boolean
  /** Text to search for in the keys. */
  readonly query: string
}

/** Views of groups by name. */
export type GroupViews = ReadonlyMap<string, GroupView>

const FOLDED: GroupView = { isOpen: false, query: '' }

/** Returns the tasks of a run by group (DASH-TG1). */
export function groupTasks(tasks: readonly TaskState[]): GroupedTasks {
  const added = new Map<string, TaskState[]>()
  for (const task of tasks) {
    const parent = findParent(tasks, task)
    if (parent === undefined) continue
    const others = added.get(parent.name)
    if (others === undefined) added.set(parent.name, [task])
    else others.push(task)
  }
  const groups = new Map<string, TaskGroup>()
  for (const [parent, all] of added) {
    if (all.length > MAX_PLAIN) groups.set(parent, { name: `${parent}/*`, parent, tasks: all })
  }
  const groupOf = new Map<string, TaskGroup>()
  const plain: TaskState[] = []
  for (const task of tasks) {
    const parent = findParent(tasks, task)?.name ?? ''
    const group = groups.get(parent) ?? groupOf.get(parent)
    if (group === undefined) plain.push(task)
    else groupOf.set(task.name, group)
  }
  return { plain, groupOf, added }
}

/** Returns the task that has added a task; files may name one that does not come before it. */
function findParent(tasks: readonly TaskState[], { delegatedBy, index }: TaskState) {
  const parent = delegatedBy === undefined ? undefined : findTask(tasks, delegatedBy.taskName)
  return parent === undefined || parent.index >= index ? undefined : parent
}

/** Returns the group of the tasks that a task has added; undefined if there is none. */
export function findGroup({ added, groupOf }: GroupedTasks, parent: string): TaskGroup | undefined {
  const [first] = added.get(parent) ?? []
  const group = first === undefined ? undefined : groupOf.get(first.name)
  return group?.parent === parent ? group : undefined
}

/** Returns the view of a group. */
export function findGroupView(views: GroupViews, { name }: TaskGroup): GroupView {
  return views.get(name) ?? FOLDED
}

/** Returns the views with the groups around a task open, and without a search (DASH-TG2). */
export function openGroupsAround(
  { groupOf }: GroupedTasks,
  views: GroupViews,
  taskName: string,
): GroupViews {
  const opened = new Map(views)
  let group = groupOf.get(taskName)
  while (group !== undefined) {
    if (!findGroupView(views, group).isOpen) opened.set(group.name, { isOpen: true, query: '' })
    group = groupOf.get(group.parent)
  }
  return opened
}

/** Returns the group of a task that is in no other group; undefined for a task in no group. */
export function findOutermostGroup(
  { groupOf }: GroupedTasks,
  taskName: string,
): TaskGroup | undefined {
  let group = groupOf.get(taskName)
  for (let outer = group; outer !== undefined; outer = groupOf.get(outer.parent)) group = outer
  return group
}

/** Whether a task is in a group, or in one within it. */
export function isWithinGroup(
  { groupOf }: GroupedTasks,
  taskName: string,
  { name }: TaskGroup,
): boolean {
  let group = groupOf.get(taskName)
  while (group !== undefined && group.name !== name) group = groupOf.get(group.parent)
  return group !== undefined
}

/** A row of a group: its heading, the search field of an open group, or one of its tasks. */
export type GroupRow =
  | { readonly kind: 'group'; readonly group: TaskGroup; readonly view: GroupView }
  | { readonly kind: 'search'; readonly group: TaskGroup; readonly view: GroupView }
  | { readonly kind: 'task'; readonly task: TaskState; readonly isNested: boolean }

/** Returns the rows of a group (DASH-TG3). */
export function listGroupRows(
  grouped: GroupedTasks,
  group: TaskGroup,
  views: GroupViews,
): readonly GroupRow[] {
  const rows: GroupRow[] = []
  const addTask = (task: TaskState, isNested: boolean): void => {
    rows.push({ kind: 'task', task, isNested })
    const own = findGroup(grouped, task.name)
    if (own === undefined)
      for (const below of grouped.added.get(task.name) ?? []) addTask(below, true)
    else addGroup(own)
  }
  const addGroup = (one: TaskGroup): void => {
    const view = findGroupView(views, one)
    rows.push({ kind: 'group', group: one, view })
    if (!view.isOpen) return
    rows.push({ kind: 'search', group: one, view })
    for (const task of searchGroup(one, view.query)) addTask(task, false)
  }
  addGroup(group)
  return rows
}

/** Returns the tasks of a group whose key contains a text, in any case. */
export function searchGroup({ tasks }: TaskGroup, query: string): readonly TaskState[] {
  const text = query.trim().toLowerCase()
  if (text === '') return tasks
  return tasks.filter((task) => readTaskKey(task).toLowerCase().includes(text))
}

/** Returns the key of an added task: the part of its name that its parent has chosen. */
export function readTaskKey({ name, delegatedBy }: TaskState): string {
  const prefix = `${delegatedBy?.taskName ?? ''}/`
  return name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : name
}

/** Number of tasks in one state. */
export interface StateCount extends Shown {
  readonly count: number
}

/** Order of the marks in counts: those that a reader has to act on first. */
const URGENCY: readonly Shown['mark'][] = [
  'held',
  'failed',
  'live',
  'queued',
  'stopped',
  'skipped',
  'done',
]

/** Labels of what tasks wait for, by the names of these tasks. */
export type Holds = ReadonlyMap<string, Shown>

/** Returns the tasks that have an open review, with what they wait for. */
export function findHolds(reviews: RunState['reviews']): Holds {
  const open = reviews.filter(({ status }) => status === 'OPEN')
  const byTask = Map.groupBy(open, ({ taskName }) => taskName)
  return new Map(
    [...byTask].flatMap(([taskName, ofTask]) => {
      const hold = labelHold(ofTask)
      return hold === undefined ? [] : [[taskName, hold] as const]
    }),
  )
}

/** Counts the tasks of a group by state, the most urgent state first. */
export function countStates({ tasks }: TaskGroup, holds: Holds): readonly StateCount[] {
  const counts = new Map<string, StateCount>()
  for (const task of tasks) {
    const shown = labelTask(task, holds.get(task.name))
    const count = (counts.get(shown.word)?.count ?? 0) + 1
    counts.set(shown.word, { ...shown, count })
  }
  return [...counts.values()].toSorted(
    (one, other) => URGENCY.indexOf(one.mark) - URGENCY.indexOf(other.mark),
  )
}

/** Formats counts: `3 running, 9,997 completed`. */
export function formatStates(counts: readonly StateCount[]): string {
  return counts
    .map(({ count, word }) => `${count.toLocaleString('en-US')} ${word.toLowerCase()}`)
    .join(', ')
}
