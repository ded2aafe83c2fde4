/** The list of the graph: the rows of the layout, and below the heading of an open group its tasks. Pure. */
import { findGroup, listGroupRows } from '../../api/task-groups.ts'
import { findRowAfterKey, readTaskGraph, type GraphLayout, type GraphTask } from './layout.ts'

import type { RunState } from '@tutti/protocol'
import type { GroupedTasks, GroupRow, GroupViews } from '../../api/task-groups.ts'

/** A row of the list. */
export interface GraphItem {
  readonly key: string
  /** Number of the row in the layout; undefined inside an open group. */
  readonly row: number | undefined
  readonly content: GroupRow
}

/** Returns the tasks and the groups of the graph, with their predecessors. */
export function readGroupGraph(
  grouped: GroupedTasks,
  { workflow }: Pick<RunState, 'workflow'>,
): readonly GraphTask[] {
  const plain = readTaskGraph({
    tasks: grouped.plain,
    ...(workflow === undefined ? {} : { workflow }),
  })
  const groups = plain.flatMap(({ name }): GraphTask[] => {
    const group = findGroup(grouped, name)
    return group === undefined ? [] : [{ name: group.name, after: [name], isDelegated: true }]
  })
  return [...plain, ...groups]
}

/** Returns the list of the graph. */
export function listGraphItems(
  { rows }: GraphLayout,
  grouped: GroupedTasks,
  views: GroupViews,
): readonly GraphItem[] {
  const tasks = new Map(grouped.plain.map((task) => [task.name, task]))
  return rows.flatMap(({ name, after, isDelegated }, row): readonly GraphItem[] => {
    const task = tasks.get(name)
    if (task !== undefined) {
      return [{ key: name, row, content: { kind: 'task', task, isNested: false } }]
    }
    const group = isDelegated ? findGroup(grouped, after[0] ?? '') : undefined
    if (group === undefined) return []
    return listGroupRows(grouped, group, views).map((content, at) => ({
      key: toKey(content),
      row: at === 0 ? row : undefined,
      content,
    }))
  })
}

function toKey(content: GroupRow): string {
  if (content.kind === 'task') return content.task.name
  return content.kind === 'group' ? content.group.name : `${content.group.name}?`
}

/** Returns the index of the item that a key leads to from the one at `index`; undefined for other keys. */
export function findItemAfterKey(
  layout: GraphLayout,
  items: readonly GraphItem[],
  { index, key }: { readonly index: number; readonly key: string },
): number | undefined {
  const item = items[index]
  const target = findRowAfterKey(layout, item?.row ?? 0, key)
  if (target === undefined) return undefined
  if (key === 'Home') return 0
  if (key === 'End') return findNeighbor(items, items.length, -1)
  const step = key === 'ArrowUp' || key === 'ArrowLeft' ? -1 : 1
  const isLinked = item?.row !== undefined && Math.abs(target - item.row) > 1
  return isLinked ? items.findIndex(({ row }) => row === target) : findNeighbor(items, index, step)
}

/** Returns the index of the next item that is a button; `index` if there is none. */
function findNeighbor(items: readonly GraphItem[], index: number, step: 1 | -1): number {
  let at = index + step
  while (items[at]?.content.kind === 'search') at += step
  return items[at] === undefined ? index : at
}
