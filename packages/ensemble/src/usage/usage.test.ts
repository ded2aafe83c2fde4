import { expect, it } from 'vitest'

import { addUsage, toRunMetrics, ZERO_USAGE, toUsageFields } from './usage.ts'

const ONE = {
  inputTokens: 3,
  outputTokens: 2,
  toolCallCount: 1,
  cost: { inputCost: 0.25, outputCost: 0.5 },
}

it('[ENS-L9] addUsage sums tokens, calls and costs', () => {
  const sum = addUsage([ONE, ONE, ZERO_USAGE])
  expect(sum).toEqual({
    inputTokens: 6,
    outputTokens: 4,
    toolCallCount: 2,
    cost: { inputCost: 0.5, outputCost: 1 },
  })
  expect(toRunMetrics(sum)).toEqual({
    totalTokens: 10,
    totalToolCalls: 2,
    costEstimate: { inputCost: 0.5, outputCost: 1 },
  })
  expect(toUsageFields(sum)).toEqual({
    inputTokens: 6,
    outputTokens: 4,
    toolCallCount: 2,
    costUsd: 1.5,
  })
  expect(addUsage([])).toEqual(ZERO_USAGE)
})

it('[ENS-L9] A sum with an unknown amount is unknown', () => {
  const unknown = { inputTokens: -1, outputTokens: 2, toolCallCount: 1 }
  const sum = addUsage([ONE, unknown])
  expect(sum).toEqual({ inputTokens: -1, outputTokens: 4, toolCallCount: 2 })
  expect(toRunMetrics(sum)).toEqual({ totalTokens: -1, totalToolCalls: 2 })
  expect(toUsageFields(sum)).not.toHaveProperty('costUsd')
})
