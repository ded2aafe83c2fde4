import { describe, expect, it } from 'vitest'

import { groupTasks, type GroupViews } from '../../api/task-groups.ts'
import { findItemAfterKey, listGraphItems, readGroupGraph } from './graph-items.ts'
import { layOutTasks } from './layout.ts'

import type { TaskState } from '@tutti/protocol/internal'

function toTask(name: string, index: number, fields: Partial<TaskState> = {}): TaskState {
  // NOTE: with the fields that the graph reads.
  return { name, index, context: [], status: 'PENDING', ...fields } as TaskState
}

/** Returns tasks `grow` and `sum`, which waits for it, and `count` tasks that `grow` has added. */
function grow(count: number): readonly TaskState[] {
  const delegatedBy = { taskName: 'grow', delegationId: 'd' }
  return [
    toTask('grow', 1),
    toTask('sum', 2, { context: ['grow'] }),
    ...Array.from({ length: count }, (_, at) => toTask(`grow/${at}`, at + 3, { delegatedBy })),
  ]
}

function drawn(count: number, views: GroupViews = new Map()) {
  const grouped = groupTasks(grow(count))
  const layout = layOutTasks(readGroupGraph(grouped, { workflow: 'PARALLEL' }))
  return { layout, items: listGraphItems(layout, grouped, views) }
}

const open: GroupViews = new Map([['grow/*', { isOpen: true, query: '' }]])

describe('listGraphItems', () => {
  it('[DASH-TG1] listGraphItems draws one row for a large group, below the task that has added it', () => {
    const { layout, items } = drawn(10_000)
    expect(items.map(({ key, row }) => `${key} ${row}`)).toEqual(['grow 0', 'grow/* 1', 'sum 2'])
    expect(layout.links).toHaveLength(2)
    expect(drawn(20).items).toHaveLength(22)
  })

  it('[DASH-TG3] listGraphItems has the tasks of an open group outside of the layout', () => {
    const { layout, items } = drawn(10_000, open)
    expect(items).toHaveLength(10_004)
    expect(layout.rows).toHaveLength(3)
    expect(items.slice(1, 4).map(({ key, row }) => [key, row])).toEqual([
      ['grow/*', 1],
      ['grow/*?', undefined],
      ['grow/0', undefined],
    ])
    expect(items.at(-1)?.row).toBe(2)
  })
})

describe('findItemAfterKey', () => {
  const { layout, items } = drawn(30, open)
  const move = (from: string, key: string): string | undefined => {
    const index = items.findIndex((item) => item.key === from)
    const next = findItemAfterKey(layout, items, { index, key })
    return next === undefined ? undefined : items[next]?.key
  }

  it.each([
    ['grow', 'ArrowDown', 'grow/*'],
    ['grow/*', 'ArrowDown', 'grow/0'],
    ['grow/0', 'ArrowUp', 'grow/*'],
    ['grow/0', 'ArrowDown', 'grow/1'],
    ['grow/29', 'ArrowDown', 'sum'],
    ['sum', 'ArrowLeft', 'grow/29'],
    ['sum', 'ArrowUp', 'grow'],
    ['grow/7', 'Home', 'grow'],
    ['grow/7', 'End', 'sum'],
    ['sum', 'ArrowDown', 'sum'],
    ['grow/7', 'x', undefined],
  ])('findItemAfterKey moves from %s with %s to %s', (from, key, to) => {
    expect(move(from, key)).toBe(to)
  })
})
