import { describe, expect, it } from 'vitest'

import { MAX_AMOUNT } from './amounts.ts'
import { addCosts, addCounts, addTokens, addUsageSums, NO_USAGE, totalTokens } from './usage-sum.ts'

describe('a sum of usage', () => {
  const one = { inputTokens: 10, outputTokens: 1, costUsd: 0.25, cachedInputTokens: 4 }

  it('A sum of usage adds tokens and costs', () => {
    expect(addUsageSums([one, one])).toEqual({
      inputTokens: 20,
      outputTokens: 2,
      costUsd: 0.5,
      cachedInputTokens: 8,
    })
    expect(addUsageSums([])).toEqual(NO_USAGE)
    expect(addTokens([])).toEqual({ inputTokens: 0, outputTokens: 0 })
  })

  it('[PROTO-U1] A sum of usage is unknown if a part of it is', () => {
    const unknown = { inputTokens: 5, outputTokens: -1 }
    expect(addUsageSums([one, unknown])).toEqual({
      inputTokens: 15,
      outputTokens: -1,
      cachedInputTokens: 4,
    })
    expect([totalTokens(one), totalTokens(unknown)]).toEqual([11, -1])
    expect([addCounts([1, -1, 2]), addCosts([1, undefined])]).toEqual([-1, undefined])
  })

  it('[PROTO-U2] A sum of usage has the sum of the known cached and reasoning tokens', () => {
    const reasoned = { inputTokens: 1, outputTokens: 9, reasoningTokens: 7 }
    const sum = addUsageSums([one, reasoned, reasoned])
    expect(sum).toMatchObject({ cachedInputTokens: 4, reasoningTokens: 14 })
    expect(addUsageSums([NO_USAGE])).not.toHaveProperty('reasoningTokens')
  })

  it('A sum of usage stops at the largest safe integer', () => {
    expect([addCounts([MAX_AMOUNT, 1]), addCosts([MAX_AMOUNT, MAX_AMOUNT])]).toEqual([
      MAX_AMOUNT,
      MAX_AMOUNT,
    ])
  })
})
