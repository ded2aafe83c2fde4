import { describe, expect, it } from 'vitest'

import { findCycle, findPlanProblems, inferWorkflow, MANAGER, planTasks } from './plan.ts'
import { task } from './define-task.ts'
import type { Task } from './task.ts'

import type { Workflow } from '@tutti/protocol/internal'

/** Returns tasks with these names, each with its context. */
function tasks(graph: Readonly<Record<string, readonly string[]>>): readonly Task[] {
  return Object.entries(graph).map(([name, context]) =>
    task({ name, description: 'Do it', context }),
  )
}

const DIAMOND = { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }

function problems(graph: Parameters<typeof tasks>[0], workflow: Workflow): readonly string[] {
  return findPlanProblems(tasks(graph), workflow).map(({ code, message }) => `${code}: ${message}`)
}

describe('[ENS-W3] the default workflow', () => {
  it('The default workflow is SEQUENTIAL without context, and PARALLEL if any task has context', () => {
    expect(inferWorkflow(tasks({ a: [], b: [] }))).toBe('SEQUENTIAL')
    expect(inferWorkflow(tasks({ a: [], b: ['a'] }))).toBe('PARALLEL')
    expect(inferWorkflow([])).toBe('SEQUENTIAL')
  })
})

describe('the plan of tasks', () => {
  it('[ENS-W1] [ENS-W6] The plan of tasks in SEQUENTIAL waits for context, and lets each task follow the previous one in any outcome', () => {
    const { order, waitsFor, follows, workflow } = planTasks(
      tasks({ a: [], b: [], c: ['a'] }),
      'SEQUENTIAL',
    )
    expect(workflow).toBe('SEQUENTIAL')
    expect(order).toEqual(['a', 'b', 'c'])
    expect([...waitsFor]).toEqual([
      ['a', []],
      ['b', []],
      ['c', ['a']],
    ])
    expect([...follows]).toEqual([
      ['a', []],
      ['b', ['a']],
      ['c', ['b']],
    ])
  })

  it('[ENS-W9] The plan of tasks in HIERARCHICAL schedules only the manager, after all tasks in order', () => {
    const { order, scheduled } = planTasks(tasks({ a: [], b: [] }), 'HIERARCHICAL')
    expect(order).toEqual(['a', 'b', MANAGER])
    expect(scheduled).toEqual([MANAGER])
  })

  it('[ENS-W2] The plan of tasks in PARALLEL waits for context, each task once, also for tasks declared later', () => {
    const { waitsFor, follows } = planTasks(
      tasks({ d: ['c', 'b', 'c'], b: [], c: ['b'] }),
      'PARALLEL',
    )
    expect([...follows]).toEqual([])
    expect([...waitsFor]).toEqual([
      ['d', ['c', 'b']],
      ['b', []],
      ['c', ['b']],
    ])
  })
})

describe('[ENS-W8] findPlanProblems', () => {
  it.each([
    ['accepts a diamond', DIAMOND, 'PARALLEL', []],
    ['accepts context that is declared later in PARALLEL', { a: ['b'], b: [] }, 'PARALLEL', []],
    ['accepts context that is declared earlier in SEQUENTIAL', DIAMOND, 'SEQUENTIAL', []],
    [
      'rejects an ensemble without tasks',
      {},
      'SEQUENTIAL',
      ['CONFIG_INVALID: an ensemble needs at least one task'],
    ],
    [
      'names a cycle in full',
      { start: ['c'], a: ['b'], b: ['c'], c: ['a'] },
      'PARALLEL',
      ['CIRCULAR_DEPENDENCY: Tasks form a cycle: c → a → b → c'],
    ],
    [
      'rejects a task that waits for itself',
      { a: ['a'] },
      'PARALLEL',
      ['CIRCULAR_DEPENDENCY: Tasks form a cycle: a → a'],
    ],
    [
      'rejects two tasks that wait for each other',
      { a: ['b'], b: ['a'] },
      'PARALLEL',
      ['CIRCULAR_DEPENDENCY: Tasks form a cycle: a → b → a'],
    ],
    [
      'rejects later context and the task itself as context in SEQUENTIAL',
      { a: ['b'], b: ['b'] },
      'SEQUENTIAL',
      [
        'CONFIG_INVALID: task "a": context "b" must be declared before it in SEQUENTIAL',
        'CONFIG_INVALID: task "b": context "b" must be declared before it in SEQUENTIAL',
      ],
    ],
    [
      'lists every problem, including a cycle',
      { a: ['b', 'x'], b: ['a', 'y'], c: [] },
      'PARALLEL',
      [
        'CONFIG_INVALID: task "a": context names an unknown task "x". Available: [a, b, c]',
        'CONFIG_INVALID: task "b": context names an unknown task "y". Available: [a, b, c]',
        'CIRCULAR_DEPENDENCY: Tasks form a cycle: a → b → a',
      ],
    ],
  ] as const)('findPlanProblems %s', (_rule, graph, workflow, expected) => {
    expect(problems(graph, workflow)).toEqual(expected)
  })

  it('findPlanProblems reports duplicate names, each once', () => {
    const twice = [...tasks({ a: [], b: [] }), ...tasks({ a: [], b: [] }), ...tasks({ a: [] })]
    expect(findPlanProblems(twice, 'SEQUENTIAL').map(({ message }) => message)).toEqual([
      'two tasks are named "a"',
      'two tasks are named "b"',
    ])
  })
})

describe('findCycle', () => {
  it('findCycle returns undefined if there is no cycle', () => {
    expect(findCycle(tasks(DIAMOND))).toBeUndefined()
    expect(findCycle(tasks({ a: ['unknown'] }))).toBeUndefined()
    expect(findCycle([])).toBeUndefined()
  })

  it('findCycle visits each task once, so that a ladder of diamonds is fast', () => {
    const ladder = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        [`l${index}`, index === 0 ? [] : [`l${index - 1}`, `r${index - 1}`]],
        [`r${index}`, index === 0 ? [] : [`l${index - 1}`, `r${index - 1}`]],
      ]).flat() as [string, string[]][],
    )
    expect(findCycle(tasks(ladder))).toBeUndefined()
  })

  it('findCycle follows a chain that is longer than the call stack allows', () => {
    const length = 20_000
    const chain = (last: readonly string[]): readonly Task[] =>
      tasks(
        Object.fromEntries(
          Array.from({ length }, (_, index) => [
            `t${index}`,
            index + 1 < length ? [`t${index + 1}`] : last,
          ]),
        ),
      )
    expect(findCycle(chain([]))).toBeUndefined()
    expect(findCycle(chain(['t0']))).toHaveLength(length + 1)
  })
})
