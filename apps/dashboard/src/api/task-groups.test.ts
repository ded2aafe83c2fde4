import { RunStateFold } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import {
  countStates,
  findGroup,
  formatStates,
  groupTasks,
  isWithinGroup,
  listGroupRows,
  MAX_PLAIN,
  openGroupsAround,
  type GroupedTasks,
  type GroupRow,
  type GroupViews,
  type TaskGroup,
} from './task-groups.ts'

import { RUN_STATUS } from '../ui/labels.ts'

import type { RunEvent } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'

const AT = '2026-01-01T00:00:00.000Z'

/** Returns the tasks of a run in which each parent adds tasks; NOTE: events with the fields that the state reads. */
function tasksOf(added: Readonly<Record<string, number>>): readonly TaskState[] {
  const fold = new RunStateFold()
  const take = (event: object): void => fold.take(event as RunEvent)
  take({ type: 'task_started', taskName: 'grow', taskIndex: 1, attempt: 1, startedAt: AT })
  let index = 1
  for (const [taskName, count] of Object.entries(added)) {
    for (let at = 0; at < count; at += 1) {
      index += 1
      const workerTask = `${taskName}/Item-${at}`
      take({
        type: 'delegation_started',
        taskName,
        workerTask,
        delegationId: workerTask,
        workerTaskIndex: index,
      })
    }
  }
  return fold.state.tasks
}

function groupOf(grouped: GroupedTasks, parent = 'grow'): TaskGroup {
  return findGroup(grouped, parent) ?? expect.fail(`"${parent}" has no group`)
}

const name = (row: GroupRow): string => (row.kind === 'task' ? row.task.name : row.kind)
const open = (query: string, ...names: readonly string[]): GroupViews =>
  new Map(names.map((one) => [one, { isOpen: true, query }]))

describe('groupTasks', () => {
  it('[DASH-TG1] groupTasks groups more than twenty added tasks', () => {
    const few = groupTasks(tasksOf({ grow: MAX_PLAIN }))
    expect(few.plain).toHaveLength(MAX_PLAIN + 1)
    expect(findGroup(few, 'grow')).toBeUndefined()
    const many = groupTasks(tasksOf({ grow: MAX_PLAIN + 1 }))
    expect(many.plain.map((task) => task.name)).toEqual(['grow'])
    expect(groupOf(many).tasks).toHaveLength(MAX_PLAIN + 1)
  })

  it('[DASH-TG1] groupTasks leaves tasks plain whose parent is unknown or comes later', () => {
    const [grow, ...rest] = tasksOf({ grow: 30 })
    expect(groupTasks(rest).plain).toHaveLength(30)
    expect(groupTasks([...rest, { ...grow, index: 99 } as TaskState]).plain).toHaveLength(31)
  })

  it('groupTasks puts the tasks that a grouped task has added into its group', () => {
    const grouped = groupTasks(tasksOf({ grow: 30, 'grow/Item-3': 2, 'grow/Item-4': 30 }))
    expect(grouped.plain).toHaveLength(1)
    expect(grouped.groupOf.get('grow/Item-3/Item-1')?.parent).toBe('grow')
    expect(grouped.groupOf.get('grow/Item-4/Item-1')?.parent).toBe('grow/Item-4')
  })
})

describe('openGroupsAround', () => {
  it('[DASH-TG2] openGroupsAround opens the groups around a task, and no others', () => {
    const grouped = groupTasks(tasksOf({ grow: 30, 'grow/Item-4': 30, 'grow/Item-5': 30 }))
    const opened = (taskName: string, views: GroupViews = new Map()) =>
      [...openGroupsAround(grouped, views, taskName)].flatMap(([one, { isOpen }]) =>
        isOpen ? [one] : [],
      )
    expect(opened('grow')).toEqual([])
    expect(opened('grow/Item-1')).toEqual(['grow/*'])
    expect(opened('grow/Item-4/Item-7').toSorted()).toEqual(['grow/*', 'grow/Item-4/*'])
    expect(opened('grow/Item-1', new Map([['grow/*', { isOpen: false, query: 'x' }]]))).toEqual([
      'grow/*',
    ])
  })

  it('openGroupsAround leaves an open group and its search as they are', () => {
    const grouped = groupTasks(tasksOf({ grow: 30 }))
    const view = { isOpen: true, query: 'Item-1' }
    const views = new Map([['grow/*', view]])
    expect(openGroupsAround(grouped, views, 'grow/Item-1').get('grow/*')).toBe(view)
  })

  it('isWithinGroup finds a task in a group and in those within it', () => {
    const grouped = groupTasks(tasksOf({ grow: 30, 'grow/Item-4': 30 }))
    const [outer, inner] = [groupOf(grouped), groupOf(grouped, 'grow/Item-4')]
    const isWithin = (taskName: string) =>
      [outer, inner].map((group) => isWithinGroup(grouped, taskName, group))
    expect(isWithin('grow/Item-4/Item-1')).toEqual([true, true])
    expect(isWithin('grow/Item-4')).toEqual([true, false])
    expect(isWithin('grow')).toEqual([false, false])
  })
})

describe('listGroupRows', () => {
  it('[DASH-TG3] listGroupRows lists the heading of a folded group, and all tasks of an open one', () => {
    const grouped = groupTasks(tasksOf({ grow: 10_000 }))
    const group = groupOf(grouped)
    expect(listGroupRows(grouped, group, new Map()).map(name)).toEqual(['group'])
    const rows = listGroupRows(grouped, group, open('', group.name))
    expect(rows).toHaveLength(10_002)
    expect(rows.slice(0, 3).map(name)).toEqual(['group', 'search', 'grow/Item-0'])
  })

  it('[DASH-TG3] listGroupRows searches keys in any case, but not the name of the parent', () => {
    const grouped = groupTasks(tasksOf({ grow: 30 }))
    const group = groupOf(grouped)
    const found = (query: string) =>
      listGroupRows(grouped, group, open(query, group.name)).slice(2).map(name)
    expect(found(' item-29 ')).toEqual(['grow/Item-29'])
    expect(found('M-2')).toHaveLength(11)
    expect(found('grow')).toEqual([])
  })

  it('[DASH-TG3] listGroupRows lists what grouped tasks have added below them', () => {
    const grouped = groupTasks(tasksOf({ grow: 30, 'grow/Item-3': 1, 'grow/Item-4': 30 }))
    const group = groupOf(grouped)
    const rows = listGroupRows(grouped, group, open('item-', group.name)).slice(5, 9)
    expect(rows.map(name)).toEqual(['grow/Item-3', 'grow/Item-3/Item-0', 'grow/Item-4', 'group'])
    expect(rows.map((row) => row.kind === 'task' && row.isNested)).toEqual([
      false,
      true,
      false,
      false,
    ])
  })
})

describe('countStates', () => {
  it('countStates counts by state, the most urgent first', () => {
    const tasks = tasksOf({ grow: 30 }).map((task, at) => ({
      ...task,
      status: at < 3 ? ('RUNNING' as const) : at < 5 ? ('FAILED' as const) : ('COMPLETED' as const),
    }))
    const group = groupOf(groupTasks(tasks))
    const counts = countStates(group, new Map([['grow/Item-9', RUN_STATUS.WAITING_REVIEW]]))
    expect(formatStates(counts)).toBe('1 needs review, 2 failed, 2 running, 25 completed')
    expect(counts[0]?.mark).toBe('held')
  })
})
