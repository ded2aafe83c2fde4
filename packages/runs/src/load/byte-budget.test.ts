import { describe, expect, it } from 'vitest'

import { ByteBudget } from './byte-budget.ts'

const OVERLOADED = expect.objectContaining({ code: 'OVERLOADED', retryable: true })

describe('ByteBudget', () => {
  it('[RUNS-FL3] ByteBudget gives one key at most half, so that another one always gets something', () => {
    const budget = new ByteBudget(100)
    for (let count = 0; count < 5; count += 1) budget.reserve('many', 10)
    expect(() => budget.reserve('many', 10)).toThrow(OVERLOADED)
    const other = budget.reserve('other', 40)
    expect(budget.used).toBe(90)
    other.release()
    expect(budget.used).toBe(50)
  })

  it('[RUNS-FL3] ByteBudget leaves room for one more key, however many keys take as much as they get', () => {
    const budget = new ByteBudget(1_000)
    const take = (key: string): number => {
      let taken = 0
      try {
        for (;;) {
          budget.reserve(key, 1)
          taken += 1
        }
      } catch {
        return taken
      }
    }
    expect(['a', 'b', 'c', 'd'].map(take)).toEqual([500, 250, 125, 62])
  })

  it('[RUNS-FL2] ByteBudget refuses what exceeds the limit, also for a key that holds nothing', () => {
    const budget = new ByteBudget(100)
    const first = budget.reserve('a', 100)
    expect(() => budget.reserve('b', 1)).toThrow(
      'Cannot take 1 bytes more: 100 of 100 bytes are in flight (maxBytesInFlight)',
    )
    expect(() => budget.reserve('b', 0)).not.toThrow()
    first.release()
    expect(() => budget.reserve('b', 101)).toThrow(OVERLOADED)
    expect(() => budget.reserve('b', 100)).not.toThrow()
  })

  it('[RUNS-FL4] ByteBudget holds accepted work above the limit, and refuses further work until it is released', () => {
    const budget = new ByteBudget(100)
    const run = budget.hold('a', 90)
    run.grow(60)
    expect(budget.used).toBe(150)
    expect(() => budget.reserve('b', 1)).toThrow(OVERLOADED)
    expect(() => budget.reserve('b', 0)).not.toThrow()
    run.release()
    run.grow(60)
    run.release()
    expect(budget.used).toBe(0)
  })
})
