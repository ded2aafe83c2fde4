import { describe, expect, it } from 'vitest'

import { computeLanesWidth, drawLink, computePitch, chooseLineTones } from './graph-lines.tsx'
import {
  layOutTasks,
  type GraphLayout,
  findRowAfterKey,
  readTaskGraph,
  type GraphTask,
} from './layout.ts'
import { sumTaskCost, countToolCalls } from './task-numbers.ts'

import type { RunState } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'

function taskState(name: string, fields: Partial<TaskState> = {}): TaskState {
  return {
    name,
    index: 1,
    description: name,
    agentRole: name,
    context: [],
    status: 'PENDING',
    attempt: 0,
    turns: [],
    agentCalls: [],
    agentUsage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    usage: { inputTokens: 0, outputTokens: 0, toolCallCount: 0, costUsd: 0 },
    earlierAttempts: [],
    ...fields,
  }
}

const graph = (tasks: Readonly<Record<string, readonly string[]>>): readonly GraphTask[] =>
  Object.entries(tasks).map(([name, after]) => ({ name, after, isDelegated: false }))

/** Rows as name and lane, links as ends and lane. */
function drawn(layout: GraphLayout) {
  return {
    rows: layout.rows.map(({ name, lane }) => `${name} ${lane}`),
    links: layout.links.map(({ from, to, lane }) => `${from}-${to} ${lane}`),
  }
}

describe('readTaskGraph', () => {
  const tasks = [taskState('a'), taskState('b', { context: ['a'] }), taskState('c')]
  const afterOf = (state: Pick<RunState, 'tasks' | 'workflow'>) =>
    Object.fromEntries(readTaskGraph(state).map(({ name, after }) => [name, after]))

  it('readTaskGraph follows the context in PARALLEL, and also when the workflow is unknown', () => {
    const expected = { a: [], b: ['a'], c: [] }
    expect(afterOf({ tasks, workflow: 'PARALLEL' })).toEqual(expected)
    expect(afterOf({ tasks })).toEqual(expected)
  })

  it('readTaskGraph follows the order in SEQUENTIAL, regardless of the context', () => {
    expect(afterOf({ tasks, workflow: 'SEQUENTIAL' })).toEqual({ a: [], b: ['a'], c: ['b'] })
  })

  it('readTaskGraph puts the manager above its workers in HIERARCHICAL, and delegated tasks below their delegator', () => {
    const delegated = (name: string, by: string): TaskState =>
      taskState(name, { delegatedBy: { taskName: by, delegationId: name } })
    const team = [
      taskState('gather'),
      taskState('write'),
      taskState('Manager'),
      delegated('gather#2', 'Manager'),
      delegated('check', 'gather#2'),
    ]
    const structure = readTaskGraph({ tasks: team, workflow: 'HIERARCHICAL' })
    expect(structure.map(({ name, after, isDelegated }) => [name, after, isDelegated])).toEqual([
      ['gather', ['Manager'], true],
      ['write', ['Manager'], true],
      ['Manager', [], false],
      ['gather#2', ['Manager'], true],
      ['check', ['gather#2'], true],
    ])
    expect(drawn(layOutTasks(structure)).rows).toEqual([
      'Manager 0',
      'gather 1',
      'write 1',
      'gather#2 1',
      'check 1',
    ])
  })

  it('readTaskGraph ignores references to tasks that are missing from a file', () => {
    const only = [taskState('b', { context: ['gone'] })]
    expect(afterOf({ tasks: only, workflow: 'PARALLEL' })).toEqual({ b: [] })
  })
})

describe('layOutTasks', () => {
  it('layOutTasks draws a chain as one line', () => {
    expect(drawn(layOutTasks(graph({ a: [], b: ['a'], c: ['b'] })))).toEqual({
      rows: ['a 0', 'b 0', 'c 0'],
      links: ['0-1 0', '1-2 0'],
    })
  })

  it('layOutTasks draws a fan of any width in three lanes, and returns to the left lane after it', () => {
    const middle = Array.from({ length: 40 }, (_, index) => `m${index}`)
    const layout = layOutTasks(
      graph({ a: [], ...Object.fromEntries(middle.map((name) => [name, ['a']])), z: middle }),
    )
    expect(layout.lanes).toBe(3)
    expect(drawn(layout).rows.slice(0, 3)).toEqual(['a 0', 'm0 1', 'm1 1'])
    expect(drawn(layout).rows.at(-1)).toBe('z 0')
    expect(
      new Set(layout.links.filter(({ from }) => from === 0).map(({ lane }) => lane)).size,
    ).toBe(1)
    expect(new Set(layout.links.filter(({ to }) => to === 41).map(({ lane }) => lane)).size).toBe(1)
  })

  it('layOutTasks puts a task after all of its predecessors, in any listed order', () => {
    const { rows } = layOutTasks(graph({ d: ['c', 'b'], c: ['a'], b: ['a'], a: [] }))
    expect(rows.map(({ name }) => name)).toEqual(['a', 'c', 'b', 'd'])
  })

  it('layOutTasks shows every task of a cycle once', () => {
    const { rows, links } = layOutTasks(graph({ a: ['b'], b: ['a'], c: ['b', 'b'] }))
    expect(rows.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(links).toHaveLength(2)
  })

  it('layOutTasks separates unrelated tasks', () => {
    const layout = layOutTasks(graph({ a: [], x: [], b: ['a'], y: ['x'] }))
    expect(drawn(layout)).toEqual({
      rows: ['a 0', 'x 1', 'b 0', 'y 1'],
      links: ['0-2 0', '1-3 1'],
    })
  })

  it('layOutTasks never draws a line through the mark of an unrelated task', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const { rows, links } = layOutTasks(graph(randomTasks(seed)))
      for (const { from, to, lane } of links) {
        const crossed = rows.slice(from + 1, to).some((row) => row.lane === lane)
        expect(crossed, `seed ${seed}`).toBe(false)
      }
    }
  })

  it('layOutTasks shares a lane only between links with a common source or target', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const { links } = layOutTasks(graph(randomTasks(seed)))
      for (const one of links) {
        const met = links.filter(
          (other) => one.lane === other.lane && one.from < other.to && other.from < one.to,
        )
        const isShared = met.every((other) => one.from === other.from || one.to === other.to)
        expect(isShared, `seed ${seed}`).toBe(true)
      }
    }
  })
})

/** Tasks that each depend on some of the earlier ones. */
function randomTasks(seed: number): Readonly<Record<string, readonly string[]>> {
  let state = seed
  const next = (): number => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const names = Array.from({ length: 4 + Math.floor(next() * 16) }, (_, index) => `t${index}`)
  return Object.fromEntries(
    names.map((name, index) => [
      name,
      names.slice(0, index).filter(() => next() < 2.5 / (index + 1)),
    ]),
  )
}

describe('geometry', () => {
  it('The geometry of the graph ends a line at the side of its mark, without touching other marks', () => {
    const layout = layOutTasks(graph({ a: [], b: ['a'], c: ['a'] }))
    const [straight] = layOutTasks(graph({ a: [], b: ['a'] })).links
    expect(drawLink(straight!, layOutTasks(graph({ a: [], b: ['a'] })))).toBe('M14 32L14 56')
    expect(drawLink(layout.links[1]!, layout)).toBe('M14 32L14 88Q14 110 20 110')
  })

  it('The geometry of the graph limits the width of many lanes, so that names have room', () => {
    const wide = { rows: [], links: [], lanes: 30 }
    expect(computePitch(wide)).toBe(4)
    expect(computeLanesWidth({ ...wide, lanes: 1 })).toBe(28)
    expect(computeLanesWidth({ ...wide, lanes: 10 })).toBeLessThanOrEqual(100)
  })
})

describe('findRowAfterKey', () => {
  const layout = layOutTasks(graph({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }))
  it.each([
    ['ArrowDown', 0, 1],
    ['ArrowDown', 1, 3],
    ['ArrowDown', 3, 3],
    ['ArrowUp', 3, 2],
    ['ArrowUp', 2, 0],
    ['ArrowUp', 0, 0],
    ['ArrowRight', 1, 2],
    ['ArrowLeft', 2, 1],
    ['Home', 2, 0],
    ['End', 0, 3],
    ['a', 0, undefined],
  ] as const)('findRowAfterKey moves with %s from row %i to %s', (key, from, to) => {
    expect(findRowAfterKey(layout, from, key)).toBe(to)
  })

  it('findRowAfterKey moves to the next row where no link leads further', () => {
    const apart = layOutTasks(graph({ a: [], b: [] }))
    expect(findRowAfterKey(apart, 0, 'ArrowDown')).toBe(1)
    expect(findRowAfterKey(apart, 1, 'ArrowUp')).toBe(0)
  })
})

describe('row data', () => {
  it('The data of a row marks lines to running tasks as live, and lines to tasks with an open review as held', () => {
    const layout = layOutTasks(graph({ a: [], b: ['a'], c: ['a'], d: ['a'], e: ['d'] }))
    const tasks = new Map([
      ['b', taskState('b', { status: 'RUNNING' })],
      ['c', taskState('c', { status: 'RUNNING' })],
    ])
    const markOf = (name: string) =>
      name === 'c' ? 'held' : tasks.get(name)?.status === 'RUNNING' ? 'live' : undefined
    const tones = chooseLineTones(layout, { markOf, selected: 'e' })
    expect(tones).toEqual(['live', 'held', 'quiet', 'chosen'])
  })

  it('The data of a row sums the cost of all attempts; undefined if one is unknown', () => {
    const usage = { inputTokens: 1, outputTokens: 1, toolCallCount: 0, costUsd: 0.25 }
    const { costUsd: _, ...unknown } = usage
    const failed = { attempt: 1, reason: 'x', code: 'MODEL_FAILED' }
    expect(sumTaskCost(taskState('a', { usage, earlierAttempts: [{ ...failed, usage }] }))).toBe(
      0.5,
    )
    expect(
      sumTaskCost(taskState('a', { usage, earlierAttempts: [{ ...failed, usage: unknown }] })),
    ).toBeUndefined()
  })

  it('The data of a row counts tool calls without their steps', () => {
    const call = { id: '1', name: 't', arguments: null, status: 'SUCCEEDED', steps: [] } as const
    const turn = {
      iterationIndex: 0,
      model: 'm',
      status: 'COMPLETED',
      text: '',
      messages: [],
      totalMessageCount: 0,
      toolCalls: [
        { ...call, steps: [{ ...call, id: '2' }] },
        { ...call, id: '3' },
      ],
      failures: [],
    } as const
    expect(countToolCalls(taskState('a', { turns: [turn, turn] }))).toBe(4)
  })
})
