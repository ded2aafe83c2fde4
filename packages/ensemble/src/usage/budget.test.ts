import { describe, expect, it } from 'vitest'

import { findBudgetProblems, Meter, type Budget } from './budget.ts'

const meterOf = (budget: Budget, elapsed = () => 0, parent?: Meter): Meter =>
  new Meter({ label: 'task "a"', budget, elapsed, ...(parent === undefined ? {} : { parent }) })

/** The limit that stops the next call, if one does. */
function limitOf(meter: Meter, kind: 'model' | 'tool' = 'model'): unknown {
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
  ] as const)('%s counts calls of its own kind as they begin', (limit, kind, other) => {
    const meter = meterOf({ [limit]: 2 })
    meter.begin(kind)
    for (let call = 0; call < 5; call += 1) meter.begin(other)
    expect(limitOf(meter, kind)).toBeUndefined()
    meter.begin(kind)
    expect(limitOf(meter, kind)).toBe(limit)
    expect(limitOf(meter, other)).toBeUndefined()
    expect(() => {
      meter.begin(kind)
    }).toThrow(`The budget of task "a" is used up: ${limit} is 2, used 2`)
  })

  it('on tokens counts what was read and written, and stops the first call after it', () => {
    const meter = meterOf({ maxTokens: 10 })
    meter.countModelCall({ inputTokens: 6, outputTokens: 3 }, undefined, () => 0)
    expect(limitOf(meter)).toBeUndefined()
    meter.countModelCall({ inputTokens: 1, outputTokens: 0 }, undefined, () => 0)
    expect([limitOf(meter, 'model'), limitOf(meter, 'tool')]).toEqual(['maxTokens', 'maxTokens'])
  })

  it('on cost and on time stop as well', () => {
    const meter = meterOf({ maxCostUsd: 1 })
    meter.countModelCall(undefined, { inputCost: 0.6, outputCost: 0.4 }, () => 0)
    expect(limitOf(meter)).toBe('maxCostUsd')
    expect([
      limitOf(meterOf({ maxDurationMs: 5 }, () => 4.9)),
      limitOf(meterOf({ maxDurationMs: 5 }, () => 5)),
    ]).toEqual([undefined, 'maxDurationMs'])
  })
})

describe('[ENS-B2] the meter of a task', () => {
  it('counts for its run too, and is stopped by it', () => {
    const run = meterOf({ maxModelCalls: 2 })
    const [one, other] = [meterOf({}, () => 0, run), meterOf({ maxModelCalls: 1 }, () => 0, run)]
    other.begin('model')
    expect(limitOf(other)).toBe('maxModelCalls')
    expect(limitOf(one)).toBeUndefined()
    one.begin('model')
    expect(limitOf(one)).toBe('maxModelCalls')
  })

  it('[ENS-E6] counts what an earlier process used for itself alone', () => {
    const run = meterOf({ maxModelCalls: 1, maxTokens: 5 })
    const one = meterOf({ maxModelCalls: 1 }, () => 0, run)
    one.countEarlier('model')
    one.countEarlierUsage({ inputTokens: 9, outputTokens: 9 }, undefined, () => 0)
    expect(limitOf(run)).toBeUndefined()
    expect(limitOf(one)).toBe('maxModelCalls')
  })
})

it('[ENS-B3] a call whose tokens nobody says counts 4 characters a token', () => {
  const meter = meterOf({ maxTokens: 3 })
  meter.countModelCall(undefined, undefined, () => 8)
  expect(limitOf(meter)).toBeUndefined()
  meter.countModelCall(undefined, undefined, () => 1)
  expect(limitOf(meter)).toBe('maxTokens')
})

it('[ENS-W8] what is no limit is named', () => {
  const budget: object = { maxTokens: 0, maxCostUsd: '1', maxWords: 3, maxToolCalls: 1 }
  expect(findBudgetProblems(budget)).toEqual([
    'budget.maxTokens must be a number > 0, got 0',
    'budget.maxCostUsd must be a number > 0, got 1',
    'budget has no limit "maxWords". Available: [maxTokens, maxCostUsd, maxDurationMs, maxModelCalls, maxToolCalls]',
  ])
  expect(findBudgetProblems(undefined)).toEqual([])
})

it('[ENS-B6] counts what agents use, here and above, and knows what is left', () => {
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
  one.countAgent({ inputTokens: 10, outputTokens: 5, costUsd: 0.25 })
  expect(one.remaining()).toEqual({ timeMs: 30, costUsd: 0.75, tokens: 85 })
  expect(run.remaining()).toEqual({ timeMs: 30, costUsd: Infinity, tokens: 85 })
  one.countEarlierAgent({ inputTokens: 0, outputTokens: 0, costUsd: 9 })
  expect(one.remaining().costUsd).toBe(0)
  expect(() => one.check()).toThrow('maxCostUsd is 1, used 9.25')
  expect(() => run.check()).not.toThrow()
})
