import { describe, expect, it } from 'vitest'

import { findBudgetProblems, Meter, toCountedUse, type Budget } from './budget.ts'

const createMeter = (budget: Budget, elapsed = () => 0, parent?: Meter): Meter =>
  new Meter({ label: 'task "a"', budget, elapsed, ...(parent === undefined ? {} : { parent }) })

/** Returns the limit that stops the next call; undefined if none does. */
function findLimit(meter: Meter, kind: 'model' | 'tool' = 'model'): unknown {
  try {
    meter.check(kind)
    return undefined
  } catch (error) {
    return (error as { details?: { limit?: unknown } }).details?.limit
  }
}

describe('[ENS-B1] a limit', () => {
  it.each([
    ['maxModelCalls', 'model', 'tool'],
    ['maxToolCalls', 'tool', 'model'],
  ] as const)('%s counts calls of its kind when they begin', (limit, kind, other) => {
    const meter = createMeter({ [limit]: 2 })
    meter.begin(kind)
    for (let call = 0; call < 5; call += 1) meter.begin(other)
    expect(findLimit(meter, kind)).toBeUndefined()
    meter.begin(kind)
    expect(findLimit(meter, kind)).toBe(limit)
    expect(findLimit(meter, other)).toBeUndefined()
    expect(() => {
      meter.begin(kind)
    }).toThrow(`The budget of task "a" is used up: ${limit} is 2, used 2`)
  })

  it('A budget limit on tokens counts input and output, and stops the first call after it is reached', () => {
    const meter = createMeter({ maxTokens: 10 })
    meter.count({ tokens: 9, costUsd: 0 })
    expect(findLimit(meter)).toBeUndefined()
    meter.count({ tokens: 1, costUsd: 0 })
    expect([findLimit(meter, 'model'), findLimit(meter, 'tool')]).toEqual([
      'maxTokens',
      'maxTokens',
    ])
  })

  it('A budget limit on cost or time stops calls as well', () => {
    const meter = createMeter({ maxCostUsd: 1 })
    meter.count({ tokens: 0, costUsd: 1 })
    expect(findLimit(meter)).toBe('maxCostUsd')
    expect([
      findLimit(createMeter({ maxDurationMs: 5 }, () => 4.9)),
      findLimit(createMeter({ maxDurationMs: 5 }, () => 5)),
    ]).toEqual([undefined, 'maxDurationMs'])
  })
})

describe('[ENS-B2] the meter of a task', () => {
  it("The meter of a task also counts for its run, and is stopped by the run's limits", () => {
    const run = createMeter({ maxModelCalls: 2 })
    const [one, other] = [
      createMeter({}, () => 0, run),
      createMeter({ maxModelCalls: 1 }, () => 0, run),
    ]
    other.begin('model')
    expect(findLimit(other)).toBe('maxModelCalls')
    expect(findLimit(one)).toBeUndefined()
    one.begin('model')
    expect(findLimit(one)).toBe('maxModelCalls')
  })

  it('[ENS-E6] The meter of a task counts the usage of an earlier process only for itself', () => {
    const run = createMeter({ maxModelCalls: 1, maxTokens: 5 })
    const one = createMeter({ maxModelCalls: 1 }, () => 0, run)
    one.countEarlier('model')
    one.countEarlierUse({ tokens: 18, costUsd: 0 })
    expect(findLimit(run)).toBeUndefined()
    expect(findLimit(one)).toBe('maxModelCalls')
  })
})

it('[ENS-B8] The counts of a meter stop at the largest safe integer', () => {
  const most = Number.MAX_SAFE_INTEGER
  const meter = createMeter({ maxTokens: most, maxCostUsd: 2 * most })
  meter.count({ tokens: most - 1, costUsd: most })
  expect(findLimit(meter)).toBeUndefined()
  meter.count({ tokens: most, costUsd: most })
  expect(() => {
    meter.check()
  }).toThrow(`used ${most}`)
  expect(meter.remaining().costUsd).toBe(most)
})

it('[ENS-W8] findBudgetProblems names every invalid limit', () => {
  const budget: object = { maxTokens: 0, maxCostUsd: '1', maxWords: 3, maxToolCalls: 1 }
  expect(findBudgetProblems(budget)).toEqual([
    'budget.maxTokens must be a number > 0, got 0',
    'budget.maxCostUsd must be a number > 0, got 1',
    'budget has no limit "maxWords". Available: [maxTokens, maxCostUsd, maxDurationMs, maxModelCalls, maxToolCalls]',
  ])
  expect(findBudgetProblems(undefined)).toEqual([])
})

it('[ENS-B6] A meter counts the usage of agents for itself and its parent, and reduces the remaining amounts', () => {
  const run = new Meter({
    label: 'run',
    budget: { maxTokens: 100, maxDurationMs: 50 },
    elapsed: () => 20,
  })
  const one = new Meter({
    label: 'task',
    budget: { maxCostUsd: 1 },
    elapsed: () => 0,
    parent: run,
  })
  one.count(toCountedUse({ inputTokens: 10, outputTokens: 5, costUsd: 0.25 }))
  expect(one.remaining()).toEqual({ timeMs: 30, costUsd: 0.75, tokens: 85 })
  expect(run.remaining()).toEqual({ timeMs: 30, costUsd: Infinity, tokens: 85 })
  one.countEarlierUse({ tokens: 0, costUsd: 9 })
  expect(one.remaining().costUsd).toBe(0)
  expect(() => one.check()).toThrow('maxCostUsd is 1, used 9.25')
  expect(() => run.check()).not.toThrow()
})
