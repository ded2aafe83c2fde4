import { describe, expect, test } from 'vitest'

import { TaskUsage } from './task-usage.ts'

describe('TaskUsage', () => {
  test('TaskUsage reports each cost increment', () => {
    const usage = new TaskUsage()
    expect(usage.add({ cost_usd: 0.25 })).toEqual({ costUsd: 0.25 })
    expect(usage.add({ cost_usd: 0.5 })).toEqual({ costUsd: 0.5 })
  })

  test('TaskUsage reports the increase of a total, and ignores increments after it', () => {
    const usage = new TaskUsage()
    usage.add({ cost_usd: 0.25 })
    expect(usage.add({ cost_usd: 0.5, total_cost_usd: 0.75 })).toEqual({ costUsd: 0.5 })
    expect(usage.add({ cost_usd: 0.5 })).toBeUndefined()
    expect(usage.add({ total_cost_usd: 0.5 })).toBeUndefined()
    expect(usage.add({ total_cost_usd: 1 })).toEqual({ costUsd: 0.25 })
  })

  test('TaskUsage reports the increase of the total tokens', () => {
    const usage = new TaskUsage()
    expect(usage.add({ total_tokens: 10, tokens: 99 })).toEqual({ outputTokens: 10 })
    expect(usage.add({ total_tokens: 15, cost_usd: 1 })).toEqual({ outputTokens: 5, costUsd: 1 })
    expect(usage.add({ total_tokens: 15 })).toBeUndefined()
  })

  test('TaskUsage starts the totals of the next task at zero', () => {
    const usage = new TaskUsage()
    usage.add({ total_cost_usd: 2, total_tokens: 10 })
    usage.begin()
    expect(usage.add({ total_cost_usd: 1, total_tokens: 4 })).toEqual({
      costUsd: 1,
      outputTokens: 4,
    })
    usage.begin()
    expect(usage.add({ cost_usd: 0.5 })).toEqual({ costUsd: 0.5 })
  })

  test.each([-1, Number.NaN, Infinity, '0.5', null, true])(
    'TaskUsage ignores the amount %s',
    (amount) => {
      const usage = new TaskUsage()
      expect(usage.add({ cost_usd: amount, total_tokens: amount })).toBeUndefined()
      expect(usage.add({ total_cost_usd: amount, cost_usd: 0.5 })).toEqual({ costUsd: 0.5 })
    },
  )

  test.each([[[{ cost_usd: 1 }]], ['text'], [null], [7]])(
    'TaskUsage ignores %j, which is not an object',
    (value) => {
      expect(new TaskUsage().add(value)).toBeUndefined()
    },
  )
})
