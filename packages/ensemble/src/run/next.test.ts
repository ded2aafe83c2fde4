import { describe, expect, it } from 'vitest'

import type { ErrorStrategy } from '../definition/ensemble-definition.ts'
import { findNextTasks, type TaskPhase } from './next.ts'

import type { Plan } from '../definition/plan.ts'

const PHASES: Readonly<Record<string, TaskPhase>> = {
  '.': 'pending',
  r: 'running',
  c: 'completed',
  f: 'failed',
  s: 'skipped',
}

/** A plan in which each task waits for those named behind it. */
function plan(waitsFor: Readonly<Record<string, readonly string[]>>): Plan {
  const order = Object.keys(waitsFor)
  return {
    workflow: 'PARALLEL',
    order,
    scheduled: order,
    waitsFor: new Map(Object.entries(waitsFor)),
    follows: new Map(),
  }
}

const DIAMOND = plan({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'] })
const CHAIN = plan({ a: [], b: ['a'], c: ['b'], d: ['c'] })
const BACKWARDS = plan({ d: ['c'], c: ['b'], b: ['a'], a: [] })
const WIDE = plan({ a: [], b: [], c: [], d: [] })
/** SEQUENTIAL: each follows the one before, and `d` waits for `b`. */
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
  /** One letter a task, in the order of the plan. */
  readonly phases: string
  readonly strategy?: ErrorStrategy
  readonly atMost?: number
  readonly start: string
  /** Skipped task → the reason, such as `c<b`. */
  readonly skip?: string
}

const TABLE: readonly Row[] = [
  {
    rule: '[ENS-E2] at first those start that wait for nothing',
    plan: DIAMOND,
    phases: '....',
    start: 'a',
  },
  {
    rule: '[ENS-E2] nothing starts before what it waits for',
    plan: DIAMOND,
    phases: 'r...',
    start: '',
  },
  { rule: '[ENS-E2] all start that a task held up', plan: DIAMOND, phases: 'c...', start: 'bc' },
  { rule: '[ENS-E2] one of two is not enough', plan: DIAMOND, phases: 'ccr.', start: '' },
  {
    rule: '[ENS-E2] the last starts when both are done',
    plan: DIAMOND,
    phases: 'ccc.',
    start: 'd',
  },
  {
    rule: '[ENS-E2] what runs or is done never starts again',
    plan: DIAMOND,
    phases: 'crr.',
    start: '',
  },
  { rule: 'nothing starts when all are done', plan: DIAMOND, phases: 'cccc', start: '' },
  {
    rule: '[ENS-W4] as many start as the limit lets',
    plan: WIDE,
    phases: '....',
    atMost: 2,
    start: 'ab',
  },
  { rule: '[ENS-W4] those that run count', plan: WIDE, phases: 'cr..', atMost: 2, start: 'c' },
  {
    rule: '[ENS-W4] at the limit nothing starts',
    plan: WIDE,
    phases: 'rr..',
    atMost: 2,
    start: '',
  },
  {
    rule: '[ENS-W4] more than the limit run: nothing starts',
    plan: WIDER,
    phases: 'rrr..',
    atMost: 2,
    start: '',
  },
  {
    rule: '[ENS-W4] in the order of declaration',
    plan: WIDE,
    phases: 'c.r.',
    atMost: 3,
    start: 'bd',
  },
  {
    rule: '[ENS-E3] FAIL_FAST: after a failure nothing starts, and all that waits is skipped',
    plan: WIDE,
    phases: 'f.r.',
    start: '',
    skip: 'b<a d<a',
  },
  {
    rule: '[ENS-E3] FAIL_FAST: also what does not wait for the failed task, even if it is ready',
    plan: DIAMOND,
    phases: 'cf..',
    start: '',
    skip: 'c<b d<b',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: the tasks that wait for the failed one are skipped',
    plan: DIAMOND,
    phases: 'cf..',
    strategy: 'CONTINUE_ON_ERROR',
    start: 'c',
    skip: 'd<b',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: through others too, each for the one it waits for itself',
    plan: CHAIN,
    phases: 'f...',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
    skip: 'b<a c<b d<c',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: in whatever order they were declared',
    plan: BACKWARDS,
    phases: '...f',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
    skip: 'b<a c<b d<c',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: what was skipped before skips on',
    plan: CHAIN,
    phases: 'fs..',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
    skip: 'c<b d<c',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: the others go on',
    plan: WIDE,
    phases: 'f...',
    strategy: 'CONTINUE_ON_ERROR',
    start: 'bcd',
  },
  {
    rule: '[ENS-W6] CONTINUE_ON_ERROR: within the limit',
    plan: WIDE,
    phases: 'f...',
    strategy: 'CONTINUE_ON_ERROR',
    atMost: 1,
    start: 'b',
  },
  { rule: '[ENS-W1] SEQUENTIAL: one after the other', plan: LINE, phases: 'r...', start: '' },
  {
    rule: '[ENS-W1] SEQUENTIAL: the next when the one before is done',
    plan: LINE,
    phases: 'c...',
    start: 'b',
  },
  {
    rule: '[ENS-W6] SEQUENTIAL: the next runs also when the one before failed',
    plan: LINE,
    phases: 'f...',
    strategy: 'CONTINUE_ON_ERROR',
    start: 'b',
  },
  {
    rule: '[ENS-W6] SEQUENTIAL: what waits for the failed one is skipped, the others go on',
    plan: LINE,
    phases: 'cf..',
    strategy: 'CONTINUE_ON_ERROR',
    start: 'c',
    skip: 'd<b',
  },
  {
    rule: '[ENS-W1] SEQUENTIAL: what was skipped early lets nobody overtake those before it',
    plan: { ...LINE, waitsFor: new Map([['c', ['a']]]) },
    phases: 'frs.',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
  },
  {
    rule: '[ENS-W1] SEQUENTIAL: nor does what is skipped now',
    plan: { ...LINE, waitsFor: new Map([['c', ['a']]]) },
    phases: 'fr..',
    strategy: 'CONTINUE_ON_ERROR',
    start: '',
    skip: 'c<a',
  },
  {
    rule: '[ENS-W9] what only a manager starts never starts by itself',
    plan: { ...WIDE, scheduled: ['d'] },
    phases: '....',
    start: 'd',
  },
  {
    rule: '[ENS-E3] what a manager delegates may fail without ending the run',
    plan: { ...WIDE, scheduled: ['d'] },
    phases: 'f..r',
    start: '',
  },
]

describe('nextTasks', () => {
  it.each(TABLE)('$rule ($phases)', ({ plan, phases, strategy, atMost, start, skip = '' }) => {
    const next = findNextTasks(
      plan,
      new Map(plan.order.map((name, index) => [name, PHASES[phases[index] ?? ''] ?? 'pending'])),
      { errorStrategy: strategy ?? 'FAIL_FAST', maxConcurrentTasks: atMost ?? 16 },
    )
    expect(next.start.join('')).toBe(start)
    const reasons = [...next.skip].map(([name, reason]) => `${name}<${reason}`)
    expect(reasons.toSorted().join(' ')).toBe(skip)
  })

  it('changes nothing of what it is given', () => {
    const phases = new Map<string, TaskPhase>([
      ['a', 'failed'],
      ['b', 'pending'],
      ['c', 'pending'],
      ['d', 'pending'],
    ])
    const before = [...phases]
    findNextTasks(CHAIN, phases, { errorStrategy: 'CONTINUE_ON_ERROR', maxConcurrentTasks: 1 })
    expect([...phases]).toEqual(before)
  })
})
