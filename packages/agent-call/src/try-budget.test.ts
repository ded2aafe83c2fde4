import { describe, expect, it } from 'vitest'

import { AgentLog } from './agent-log.ts'
import { TryBudget, type Spent } from './try-budget.ts'

const NONE = { timeMs: Infinity, costUsd: Infinity, tokens: Infinity }

interface Given {
  readonly limits?: { maxCostUsd?: number; maxTokens?: number }
  readonly above?: { costUsd?: number; tokens?: number }
  readonly spent?: Spent
}

function budgetOf({ limits, above, spent = { costUsd: 0, tokens: 0 } }: Given): TryBudget {
  return new TryBudget({
    limits: { maxCostUsd: Infinity, maxTokens: Infinity, ...limits },
    spent,
    log: new AgentLog(() => undefined, 0),
    above: () => ({ ...NONE, ...above }),
  })
}

describe('[Y2] the budget of a try', () => {
  it.each([
    { limits: { maxCostUsd: 2 }, use: { costUsd: 2 }, breach: undefined },
    { limits: { maxCostUsd: 2 }, use: { costUsd: 2.5 }, breach: 'it has cost 2.5 USD, more than' },
    { limits: { maxTokens: 4 }, use: { inputTokens: 1, outputTokens: 3 }, breach: undefined },
    {
      limits: { maxTokens: 4 },
      use: { inputTokens: 2, outputTokens: 3 },
      breach: 'it has used 5 tokens, more than the 4 it may',
    },
    { above: { costUsd: 2 }, use: { costUsd: 1 }, breach: undefined },
    { above: { costUsd: 2 }, use: { costUsd: 2 }, breach: 'with 2 USD it has used up the budget' },
    { above: { tokens: 3 }, use: { inputTokens: 1, outputTokens: 1 }, breach: undefined },
    { above: { tokens: 3 }, use: { inputTokens: 3 }, breach: 'with 3 tokens it has used up' },
    { above: { tokens: 3 }, use: { outputTokens: 3 }, breach: 'with 3 tokens it has used up' },
  ])('of $limits $above: use of $use breaches $breach', ({ use, breach, ...given }) => {
    const budget = budgetOf(given)
    budget.count(use)
    if (breach === undefined) budget.assertKept()
    else expect(() => budget.assertKept()).toThrow(breach)
  })

  it('counts what the tries before it have used, and says what this one has cost', () => {
    const spent = { costUsd: 1, tokens: 10 }
    const budget = budgetOf({ limits: { maxCostUsd: 2, maxTokens: 12 }, spent })
    expect(budget.remaining()).toEqual({ costUsd: 1, tokens: 2 })
    budget.count({ costUsd: 0.5, inputTokens: 1 })
    expect(budget.remaining()).toEqual({ costUsd: 0.5, tokens: 1 })
    expect(spent).toEqual({ costUsd: 1.5, tokens: 11 })
    expect(budget.costUsd).toBe(0.5)
  })

  it('never has less than nothing left, and has no more than what is above it', () => {
    const budget = budgetOf({ limits: { maxCostUsd: 9, maxTokens: 9 }, above: { costUsd: 3 } })
    expect(budget.remaining()).toEqual({ costUsd: 3, tokens: 9 })
    budget.count({ costUsd: 5, inputTokens: 20 })
    expect(budget.remaining()).toEqual({ costUsd: 0, tokens: 0 })
  })

  it('takes from above only what was not told yet', () => {
    const log = new AgentLog(() => undefined, 0)
    let left = 3
    const budget = new TryBudget({
      limits: { maxCostUsd: Infinity, maxTokens: Infinity },
      spent: { costUsd: 0, tokens: 0 },
      log,
      above: () => ({ ...NONE, costUsd: left }),
    })
    budget.count({ costUsd: 2 })
    expect(budget.remaining().costUsd).toBe(1)
    log.tell({ type: 'agent_tool_progress', chunk_index: 0, chunk: 1, accumulated_cost_usd: 2 })
    left = 1
    expect(budget.remaining().costUsd).toBe(1)
  })
})
