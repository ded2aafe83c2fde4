import { describe, expect, it } from 'vitest'

import { findCycle, findPlanProblems, inferWorkflow, MANAGER, planTasks } from './plan.ts'
import { task } from './define-task.ts'
import type { Task } from './task.ts'

import type { Workflow } from '@tutti/protocol'

/** Tasks of the given names, each with the names it has as context. */
function tasks(graph: Readonly<Record<string, readonly string[]>>): readonly Task[] {
  return Object.entries(graph).map(([name, context]) =>
    task({ name, description: 'Do it', context }),
  )
}

const DIAMOND = { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }

function problems(graph: Parameters<typeof tasks>[0], workflow: Workflow): readonly string[] {
  return findPlanProblems(tasks(graph), workflow).map(({ code, message }) => `${code}: ${message}`)
}

describe('[ENS-W3] a workflow that is not said', () => {
  it('is SEQUENTIAL without context, PARALLEL as soon as one task has some', () => {
    expect(inferWorkflow(tasks({ a: [], b: [] }))).toBe('SEQUENTIAL')
    expect(inferWorkflow(tasks({ a: [], b: ['a'] }))).toBe('PARALLEL')
    expect(inferWorkflow([])).toBe('SEQUENTIAL')
  })
})

describe('what a task waits for', () => {
  it('[ENS-W1] [ENS-W6] in SEQUENTIAL is its context; it follows the task before it, however that ended', () => {
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

  it('[ENS-W9] in HIERARCHICAL only the manager starts by itself, after all tasks in order', () => {
    const { order, scheduled } = planTasks(tasks({ a: [], b: [] }), 'HIERARCHICAL')
    expect(order).toEqual(['a', 'b', MANAGER])
    expect(scheduled).toEqual([MANAGER])
  })

  it('[ENS-W2] in PARALLEL is its context, each once, also of tasks declared later', () => {
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

describe('[ENS-W8] what is wrong with tasks', () => {
  it.each([
    ['a diamond is no cycle', DIAMOND, 'PARALLEL', []],
    ['a task may wait for one declared later, in PARALLEL', { a: ['b'], b: [] }, 'PARALLEL', []],
    ['context that comes before is fine in SEQUENTIAL', DIAMOND, 'SEQUENTIAL', []],
    ['no tasks at all', {}, 'SEQUENTIAL', ['CONFIG_INVALID: an ensemble needs at least one task']],
    [
      'a cycle is named in full',
      { start: ['c'], a: ['b'], b: ['c'], c: ['a'] },
      'PARALLEL',
      ['CIRCULAR_DEPENDENCY: Tasks form a cycle: c → a → b → c'],
    ],
    [
      'a task that waits for itself is a cycle',
      { a: ['a'] },
      'PARALLEL',
      ['CIRCULAR_DEPENDENCY: Tasks form a cycle: a → a'],
    ],
    [
      'two tasks that wait for each other',
      { a: ['b'], b: ['a'] },
      'PARALLEL',
      ['CIRCULAR_DEPENDENCY: Tasks form a cycle: a → b → a'],
    ],
    [
      'in SEQUENTIAL context must come before, and its own name does not',
      { a: ['b'], b: ['b'] },
      'SEQUENTIAL',
      [
        'CONFIG_INVALID: task "a": context "b" must be declared before it in SEQUENTIAL',
        'CONFIG_INVALID: task "b": context "b" must be declared before it in SEQUENTIAL',
      ],
    ],
    [
      'every problem is listed, a cycle among them',
      { a: ['b', 'x'], b: ['a', 'y'], c: [] },
      'PARALLEL',
      [
        'CONFIG_INVALID: task "a": context names an unknown task "x". Available: [a, b, c]',
        'CONFIG_INVALID: task "b": context names an unknown task "y". Available: [a, b, c]',
        'CIRCULAR_DEPENDENCY: Tasks form a cycle: a → b → a',
      ],
    ],
  ] as const)('%s', (_rule, graph, workflow, expected) => {
    expect(problems(graph, workflow)).toEqual(expected)
  })

  it('names that occur more than once, each once', () => {
    const twice = [...tasks({ a: [], b: [] }), ...tasks({ a: [], b: [] }), ...tasks({ a: [] })]
    expect(findPlanProblems(twice, 'SEQUENTIAL').map(({ message }) => message)).toEqual([
      'two tasks are named "a"',
      'two tasks are named "b"',
    ])
  })
})

describe('findCycle', () => {
  it('finds none where there is none', () => {
    expect(findCycle(tasks(DIAMOND))).toBeUndefined()
    expect(findCycle(tasks({ a: ['unknown'] }))).toBeUndefined()
    expect(findCycle([])).toBeUndefined()
  })

  it('looks at each way once: a ladder of diamonds takes no time', () => {
    const ladder = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        [`l${index}`, index === 0 ? [] : [`l${index - 1}`, `r${index - 1}`]],
        [`r${index}`, index === 0 ? [] : [`l${index - 1}`, `r${index - 1}`]],
      ]).flat() as [string, string[]][],
    )
    expect(findCycle(tasks(ladder))).toBeUndefined()
  })

  it('follows a chain that is longer than the stack is deep', () => {
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
