import { describe, expect, it } from 'vitest'

import { lanesWidth, pathOf, pitchOf, lineTones } from './graph-lines.tsx'
import { layoutOf, type GraphLayout, rowAfterKey, structureOf, type GraphTask } from './layout.ts'
import { taskCost, heldTasks, toolCallsOf } from './task-facts.ts'

import type { ReviewState, RunState, TaskState } from '@tutti/protocol'

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

/** Each row as its name and lane, and each link as its ends and lane. */
function drawn(layout: GraphLayout) {
  return {
    rows: layout.rows.map(({ name, lane }) => `${name} ${lane}`),
    links: layout.links.map(({ from, to, lane }) => `${from}-${to} ${lane}`),
  }
}

describe('structureOf', () => {
  const tasks = [taskState('a'), taskState('b', { context: ['a'] }), taskState('c')]
  const afterOf = (state: Pick<RunState, 'tasks' | 'workflow'>) =>
    Object.fromEntries(structureOf(state).map(({ name, after }) => [name, after]))

  it('is the context in PARALLEL, and also when no event has said the workflow', () => {
    const expected = { a: [], b: ['a'], c: [] }
    expect(afterOf({ tasks, workflow: 'PARALLEL' })).toEqual(expected)
    expect(afterOf({ tasks })).toEqual(expected)
  })

  it('is the order in SEQUENTIAL, whatever else a task is given', () => {
    expect(afterOf({ tasks, workflow: 'SEQUENTIAL' })).toEqual({ a: [], b: ['a'], c: ['b'] })
  })

  it('has the manager above its workers in HIERARCHICAL, and what was delegated below who did so', () => {
    const delegated = (name: string, by: string): TaskState =>
      taskState(name, { delegatedBy: { taskName: by, delegationId: name } })
    const team = [
      taskState('gather'),
      taskState('write'),
      taskState('Manager'),
      delegated('gather#2', 'Manager'),
      delegated('check', 'gather#2'),
    ]
    const structure = structureOf({ tasks: team, workflow: 'HIERARCHICAL' })
    expect(structure.map(({ name, after, isDelegated }) => [name, after, isDelegated])).toEqual([
      ['gather', ['Manager'], true],
      ['write', ['Manager'], true],
      ['Manager', [], false],
      ['gather#2', ['Manager'], true],
      ['check', ['gather#2'], true],
    ])
    expect(drawn(layoutOf(structure)).rows).toEqual([
      'Manager 0',
      'gather 1',
      'write 1',
      'gather#2 1',
      'check 1',
    ])
  })

  it('leaves out what a file names and does not have', () => {
    const only = [taskState('b', { context: ['gone'] })]
    expect(afterOf({ tasks: only, workflow: 'PARALLEL' })).toEqual({ b: [] })
  })
})

describe('layoutOf', () => {
  it('draws a chain as one line', () => {
    expect(drawn(layoutOf(graph({ a: [], b: ['a'], c: ['b'] })))).toEqual({
      rows: ['a 0', 'b 0', 'c 0'],
      links: ['0-1 0', '1-2 0'],
    })
  })

  it('draws a fan of any width in three lanes, and what gathers it at the left again', () => {
    const middle = Array.from({ length: 40 }, (_, index) => `m${index}`)
    const layout = layoutOf(
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

  it('puts a task after all that lead to it, whatever the order they are listed in', () => {
    const { rows } = layoutOf(graph({ d: ['c', 'b'], c: ['a'], b: ['a'], a: [] }))
    expect(rows.map(({ name }) => name)).toEqual(['a', 'c', 'b', 'd'])
  })

  it('shows every task of a circle, each once', () => {
    const { rows, links } = layoutOf(graph({ a: ['b'], b: ['a'], c: ['b', 'b'] }))
    expect(rows.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(links).toHaveLength(2)
  })

  it('keeps tasks that have nothing to do with each other apart', () => {
    const layout = layoutOf(graph({ a: [], x: [], b: ['a'], y: ['x'] }))
    expect(drawn(layout)).toEqual({
      rows: ['a 0', 'x 1', 'b 0', 'y 1'],
      links: ['0-2 0', '1-3 1'],
    })
  })

  it('never has a line on a task that it does not lead to or come from', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const { rows, links } = layoutOf(graph(randomTasks(seed)))
      for (const { from, to, lane } of links) {
        const crossed = rows.slice(from + 1, to).some((row) => row.lane === lane)
        expect(crossed, `seed ${seed}`).toBe(false)
      }
    }
  })

  it('shares a lane between links of one source or of one target only', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const { links } = layoutOf(graph(randomTasks(seed)))
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

/** Some tasks, each after some of those before it. */
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
  it('ends a line at the side of a mark, and beside no mark that it passes', () => {
    const layout = layoutOf(graph({ a: [], b: ['a'], c: ['a'] }))
    const [straight] = layoutOf(graph({ a: [], b: ['a'] })).links
    expect(pathOf(straight!, layoutOf(graph({ a: [], b: ['a'] })))).toBe('M14 32L14 56')
    expect(pathOf(layout.links[1]!, layout)).toBe('M14 32L14 88Q14 110 20 110')
  })

  it('gives names their place when there are many lanes', () => {
    const wide = { rows: [], links: [], lanes: 30 }
    expect(pitchOf(wide)).toBe(4)
    expect(lanesWidth({ ...wide, lanes: 1 })).toBe(28)
    expect(lanesWidth({ ...wide, lanes: 10 })).toBeLessThanOrEqual(100)
  })
})

describe('rowAfterKey', () => {
  const layout = layoutOf(graph({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }))
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
  ] as const)('%s from row %i leads to %s', (key, from, to) => {
    expect(rowAfterKey(layout, from, key)).toBe(to)
  })

  it('goes on to the next row where no line leads further', () => {
    const apart = layoutOf(graph({ a: [], b: [] }))
    expect(rowAfterKey(apart, 0, 'ArrowDown')).toBe(1)
    expect(rowAfterKey(apart, 1, 'ArrowUp')).toBe(0)
  })
})

describe('what a row says', () => {
  it('has the lines to a task at work live, and to one that waits for a person held', () => {
    const layout = layoutOf(graph({ a: [], b: ['a'], c: ['a'], d: ['a'], e: ['d'] }))
    const tasks = new Map([
      ['b', taskState('b', { status: 'RUNNING' })],
      ['c', taskState('c', { status: 'RUNNING' })],
    ])
    const tones = lineTones(layout, { tasks, held: new Set(['c']), selected: 'e' })
    expect(tones).toEqual(['live', 'held', 'quiet', 'chosen'])
  })

  it('knows which tasks wait for a person', () => {
    const gate = (taskName: string, status: ReviewState['status']): ReviewState => ({
      reviewId: taskName,
      taskDescription: '',
      taskOutput: '',
      timing: 'AFTER_EXECUTION',
      timeoutMs: 0,
      onTimeout: 'CONTINUE',
      taskName,
      taskIndex: 1,
      attempt: 1,
      agentRole: '',
      requestedAt: '2026-01-01T10:00:00Z',
      status,
    })
    const gates = [gate('a', 'OPEN'), gate('b', 'DECIDED')]
    expect([...heldTasks(gates)]).toEqual(['a'])
  })

  it('counts the cost of all attempts, and none when one is not known', () => {
    const usage = { inputTokens: 1, outputTokens: 1, toolCallCount: 0, costUsd: 0.25 }
    const { costUsd: _, ...unknown } = usage
    const failed = { attempt: 1, reason: 'x', code: 'MODEL_FAILED' }
    expect(taskCost(taskState('a', { usage, earlierAttempts: [{ ...failed, usage }] }))).toBe(0.5)
    expect(
      taskCost(taskState('a', { usage, earlierAttempts: [{ ...failed, usage: unknown }] })),
    ).toBeUndefined()
  })

  it('counts tool calls and not their steps', () => {
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
    expect(toolCallsOf(taskState('a', { turns: [turn, turn] }))).toBe(4)
  })
})
