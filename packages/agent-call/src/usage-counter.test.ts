import { describe, expect, it } from 'vitest'

import { UsageCounter } from './usage-counter.ts'

import type { AgentUsageReport } from './agent-connector.ts'

function deltas(...reports: readonly AgentUsageReport[]): readonly number[] {
  const counter = new UsageCounter()
  return reports.map((report) => counter.add(report).costUsd)
}

describe('the reported usage of an agent', () => {
  it('The reported usage of an agent is added up if the agent reports parts', () => {
    expect(deltas({ costUsd: 0.25 }, {}, { costUsd: 0.5 })).toEqual([0.25, 0, 0.5])
  })

  it('The reported usage of an agent is the difference if the agent reports totals, regardless of reported parts', () => {
    const totals = [
      { totalCostUsd: 1, costUsd: 1 },
      { totalCostUsd: 3, costUsd: 9 },
      { totalCostUsd: 3 },
    ]
    expect(deltas(...totals)).toEqual([1, 2, 0])
    expect(deltas({ totalCostUsd: 2 }, { totalCostUsd: 1 })).toEqual([2, 0])
    expect(deltas({ costUsd: 1 }, { totalCostUsd: 3 }, { costUsd: 1 })).toEqual([1, 2, 0])
  })

  it.each([NaN, Infinity, -1])('The reported usage of an agent ignores %s', (amount) => {
    const counter = new UsageCounter()
    const nothing = { costUsd: 0, inputTokens: 0, outputTokens: 0 }
    expect(counter.add({ costUsd: amount, inputTokens: amount })).toEqual(nothing)
    expect(counter.add({ totalCostUsd: amount, totalTokens: amount })).toEqual(nothing)
    // An invalid total does not end the sum of the parts.
    expect(counter.add({ costUsd: 1, inputTokens: 2, outputTokens: 3 })).toEqual({
      costUsd: 1,
      inputTokens: 2,
      outputTokens: 3,
    })
    expect([counter.costUsd, counter.tokens]).toEqual([1, 5])
  })

  it('The reported usage of an agent counts tokens without a direction as output', () => {
    const counter = new UsageCounter()
    expect(counter.add({ totalTokens: 10 })).toMatchObject({ inputTokens: 0, outputTokens: 10 })
    expect(counter.add({ totalTokens: 12, inputTokens: 5 })).toMatchObject({ outputTokens: 2 })
    expect(counter.add({ inputTokens: 5 })).toMatchObject({ inputTokens: 0 })
  })
})
