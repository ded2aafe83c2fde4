import { describe, expect, it } from 'vitest'

import type { ErrorStrategy } from '../definition/ensemble-definition.ts'
import { Schedule, type ScheduleLimits, type TaskPhase } from './schedule.ts'

import type { Plan } from '../definition/plan.ts'

const PHASES: Readonly<Record<string, TaskPhase>> = {
  '.': 'pending',
  r: 'running',
  c: 'completed',
  f: 'failed',
  s: 'skipped',
}

/** Returns a plan in which each task waits for the listed ones. */
function plan(waitsFor: Readonly<Record<string, readonly string[]>>): Plan {
  const order = Object.keys(waitsFor)
  return {
    workflow: 'PARALLEL',
    order,
    outputTask: order.at(-1) ?? '',
    scheduled: order,
    waitsFor: new Map(Object.entries(waitsFor)),
    follows: new Map(),
    lastTasks: order.slice(-1),
    choices: [],
    needs: new Map(),
  }
}

const DIAMOND = plan({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'] })
const CHAIN = plan({ a: [], b: ['a'], c: ['b'], d: ['c'] })
const BACKWARDS = plan({ d: ['c'], c: ['b'], b: ['a'], a: [] })
const WIDE = plan({ a: [], b: [], c: [], d: [] })
/** SEQUENTIAL: each task follows the previous one, and `d` waits for `b`. */
const LINE: Plan = {
  ...plan({ a: [], b: [], c: [], d: ['b'] }),
  workflow: 'SEQUENTIAL',
  follows: new Map([
    ['a', []],
    ['b', ['a']],
    ['c', ['b']],
    ['d', ['c']],
  ]),
}
const WIDER = plan({ a: [], b: [], c: [], d: [], e: [] })

interface Row {
  readonly rule: string
  readonly plan: Plan
  /** Phase of each task as one letter, in the order of the plan. */
  readonly phases: string
  readonly strategy?: ErrorStrategy
  readonly atMost?: number
  readonly start: string
  /** Skipped tasks with the reason, such as `c<b`. */
  readonly skip?: string
}

const TABLE: readonly Row[] = [
  {
    rule: '[ENS-E2] A schedule starts first the tasks that wait for nothing',
    plan: DIAMOND,
    phases: '....',
    start: 'a',
  },
  {
    rule: '[ENS-E2] A schedule starts nothing before the tasks that it waits for',
    plan: DIAMOND,
    phases: 'r...',
    start: '',
  },
  {
    rule: '[ENS-E2] A schedule starts all tasks that waited for the completed one',
    plan: DIAMOND,
    phases: 'c...',
    start: 'bc',
  },
  {
    rule: '[ENS-E2] A schedule starts nothing if only one of two is completed',
    plan: DIAMOND,
    phases: 'ccr.',
    start: '',
  },
  {
    rule: '[ENS-E2] A schedule starts the last task when both are completed',
    plan: DIAMOND,
    phases: 'ccc.',
    start: 'd',
  },
  {
    rule: '[ENS-E2] A schedule never starts a running or completed task again',
    plan: DIAMOND,
    phases: 'crr.',
    start: '',
  },
  {
    rule: 'A schedule starts nothing if all tasks are completed',
    plan: DIAMOND,
    phases: 'cccc',
    start: '',
  },
  {
    rule: '[ENS-W4] A schedule starts as many tasks as the limit allows',
    plan: WIDE,
    phases: '....',
    atMost: 2,
    start: 'ab',
  },
  {
    rule: '[ENS-W4] A schedule counts running tasks',
    plan: WIDE,
    phases: 'cr..',
    atMost: 2,
    start: 'c',
  },
  {
    rule: '[ENS-W4] A schedule starts nothing at the limit',
    plan: WIDE,
    phases: 'rr..',
    atMost: 2,
    start: '',
  },
  {
    rule: '[ENS-W4] A schedule starts nothing if more tasks run than the limit allows',
    plan: WIDER,
    phases: 'rrr..',
    atMost: 2,
    start: '',
  },
  {
    rule: '[ENS-W4] A schedule starts tasks in the order of declaration',
    plan: WIDE,
    phases: 'c.r.',
    atMost: 3,
    start: 'bd',
  },
  {
    rule: '[ENS-E3] FAIL_FAST: starts nothing after a failure and skips all waiting tasks',
    plan: WIDE,
    phases: 'f.r.',
    start: '',
    skip: 'b<a d<a',
  },
  {
    rule: '[ENS-E3] FAIL_FAST: also skips ready tasks that do not wait for the failed one',
    plan: DIAMOND,
    phases: 'cf..',
    start: '',
    skip: 'c<b d<b',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: skips the tasks that wait for the failed one',
    plan: DIAMOND,
    phases: 'cf..',
    strategy: 'CONTINUE_ON_ERROR',
    start: 'c',
    skip: 'd<b',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: skips indirect followers, each because of the task that it waits for',
    plan: CHAIN,
    phases: 'f...',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
    skip: 'b<a c<b d<c',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: skips them in any order of declaration',
    plan: BACKWARDS,
    phases: '...f',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
    skip: 'b<a c<b d<c',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: skips the followers of tasks that were skipped before',
    plan: CHAIN,
    phases: 'fs..',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
    skip: 'c<b d<c',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: starts the other tasks',
    plan: WIDE,
    phases: 'f...',
    strategy: 'CONTINUE_ON_ERROR',
    start: 'bcd',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: respects the limit',
    plan: WIDE,
    phases: 'f...',
    strategy: 'CONTINUE_ON_ERROR',
    atMost: 1,
    start: 'b',
  },
  { rule: '[ENS-W1] SEQUENTIAL: runs one task at a time', plan: LINE, phases: 'r...', start: '' },
  {
    rule: '[ENS-W1] SEQUENTIAL: starts the next task when the previous one is completed',
    plan: LINE,
    phases: 'c...',
    start: 'b',
  },
  {
    rule: '[ENS-W6] SEQUENTIAL: starts the next task also when the previous one failed',
    plan: LINE,
    phases: 'f...',
    strategy: 'CONTINUE_ON_ERROR',
    start: 'b',
  },
  {
    rule: '[ENS-W6] SEQUENTIAL: skips the tasks that wait for the failed one and continues with the others',
    plan: LINE,
    phases: 'cf..',
    strategy: 'CONTINUE_ON_ERROR',
    start: 'c',
    skip: 'd<b',
  },
  {
    rule: '[ENS-W1] SEQUENTIAL: does not start a task after one that was skipped early while an earlier one runs',
    plan: { ...LINE, waitsFor: new Map([['c', ['a']]]) },
    phases: 'frs.',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
  },
  {
    rule: '[ENS-W1] SEQUENTIAL: does not start a task after one that is skipped now while an earlier one runs',
    plan: { ...LINE, waitsFor: new Map([['c', ['a']]]) },
    phases: 'fr..',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
    skip: 'c<a',
  },
  {
    rule: '[ENS-W9] A schedule never starts a task that only a manager can start',
    plan: { ...WIDE, scheduled: ['d'] },
    phases: '....',
    start: 'd',
  },
  {
    rule: '[ENS-E3] A schedule does not end the run when a delegated task fails',
    plan: { ...WIDE, scheduled: ['d'] },
    phases: 'f..r',
    start: '',
  },
]

describe('a schedule', () => {
  it.each(TABLE)('$rule ($phases)', ({ plan, phases, strategy, atMost, start, skip = '' }) => {
    const schedule = new Schedule(plan, {
      errorStrategy: strategy ?? 'FAIL_FAST',
      maxConcurrentTasks: atMost ?? 16,
    })
    for (const [index, name] of plan.order.entries()) {
      schedule.set(name, PHASES[phases[index] ?? ''] ?? 'pending')
    }
    const next = schedule.next()
    expect(next.start.join('')).toBe(start)
    const reasons = [...next.skip].map(([name, reason]) => `${name}<${reason}`)
    expect(reasons.toSorted().join(' ')).toBe(skip)
  })
})

/** Decides by looking at all tasks: the rules that a schedule applies to changes. */
function scanTasks(
  { scheduled, waitsFor, follows }: Plan,
  phases: ReadonlyMap<string, TaskPhase>,
  { errorStrategy, maxConcurrentTasks }: ScheduleLimits,
): { readonly start: string; readonly skip: string } {
  const phaseOf = (name: string) => phases.get(name) ?? 'pending'
  const pending = scheduled.filter((name) => phaseOf(name) === 'pending')
  const failed = scheduled.find((name) => phaseOf(name) === 'failed')
  const format = (skip: readonly (readonly [string, string])[]) =>
    skip.map(([name, reason]) => `${name}<${reason}`).join(' ')
  if (failed !== undefined && errorStrategy === 'FAIL_FAST') {
    return { start: '', skip: format(pending.map((name) => [name, failed])) }
  }
  const isLost = (name: string): boolean =>
    ['failed', 'skipped'].includes(phaseOf(name)) ||
    (phaseOf(name) === 'pending' && (waitsFor.get(name) ?? []).some(isLost))
  const isSettled = (name: string): boolean =>
    ['completed', 'failed'].includes(phaseOf(name)) ||
    (isLost(name) && (follows.get(name) ?? []).every(isSettled))
  const ready = pending.filter(
    (name) =>
      (waitsFor.get(name) ?? []).every((before) => phaseOf(before) === 'completed') &&
      (follows.get(name) ?? []).every(isSettled),
  )
  const free = maxConcurrentTasks - scheduled.filter((name) => phaseOf(name) === 'running').length
  return {
    start: ready.slice(0, Math.max(0, free)).join(''),
    skip: format(
      pending.filter(isLost).map((name) => [name, waitsFor.get(name)?.find(isLost) ?? '']),
    ),
  }
}

it('[ENS-E2] [ENS-W6] A schedule decides after each change what a scan of all tasks decides', () => {
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let round = 0; round < 400; round += 1) {
    const names = [...'abcdefghij'].slice(0, 2 + random(9))
    const waitsFor = names.map(
      (name, at) => [name, names.slice(0, at).filter(() => random(4) === 0)] as const,
    )
    const isLine = random(2) === 0
    const line = names.map((name, at) => [name, names.slice(Math.max(0, at - 1), at)] as const)
    const graph = {
      ...plan(Object.fromEntries(waitsFor)),
      follows: new Map(isLine ? line : []),
    }
    const limits = {
      errorStrategy: random(4) === 0 ? 'FAIL_FAST' : 'CONTINUE_ON_ERROR',
      maxConcurrentTasks: 1 + random(4),
    } as const
    const schedule = new Schedule(graph, limits)
    const phases = new Map<string, TaskPhase>()
    const set = (name: string, phase: TaskPhase): void => {
      phases.set(name, phase)
      schedule.set(name, phase)
    }
    for (;;) {
      const expected = scanTasks(graph, phases, limits)
      const { start, skip } = schedule.next()
      const skipped = [...skip].map(([name, reason]) => `${name}<${reason}`).join(' ')
      expect({ start: start.join(''), skip: skipped }).toEqual(expected)
      for (const name of skip.keys()) set(name, 'skipped')
      for (const name of start) set(name, 'running')
      const running = names.filter((name) => phases.get(name) === 'running')
      const ended = running[random(Math.max(1, running.length))]
      if (ended === undefined) break
      set(ended, random(5) === 0 ? 'failed' : 'completed')
    }
  }
})
