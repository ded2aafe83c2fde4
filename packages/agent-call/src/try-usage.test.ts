import { describe, expect, it } from 'vitest'

import { TryUsage, type BareReport, type Spent } from './try-usage.ts'

import type { AgentReport } from '@tutti/core/internal'

const NONE = { timeMs: Infinity, costUsd: Infinity, tokens: Infinity }

const totals = { latency_ms: 1, chunks_received: 0, total_turns: 1 }
const failed = {
  ...totals,
  error: 'No',
  accumulated_cost_usd: 0,
  partial_output: null,
  retryable: false,
}
const ends: readonly BareReport[] = [
  { type: 'agent_tool_completed', ...totals, output: 1, total_cost: 0 },
  { type: 'agent_tool_terminated', reason: 'timeout', ...failed },
  { type: 'agent_tool_error', failure_type: 'agent_failed', ...failed },
]
const progress: BareReport = {
  type: 'agent_tool_progress',
  chunk_index: 0,
  chunk: 'a',
  accumulated_cost_usd: 0,
}

interface Given {
  readonly limits?: { maxCostUsd?: number; maxTokens?: number }
  readonly above?: () => { costUsd?: number; tokens?: number }
  readonly spent?: Spent
  readonly retryIndex?: number
}

function usageOf({ limits, above, spent, retryIndex = 0 }: Given = {}): {
  readonly usage: TryUsage
  readonly reports: readonly AgentReport[]
} {
  const reports: AgentReport[] = []
  const usage = new TryUsage({
    limits: { maxCostUsd: Infinity, maxTokens: Infinity, ...limits },
    spent: spent ?? { costUsd: 0, tokens: 0 },
    retryIndex,
    above: () => ({ ...NONE, ...above?.() }),
    report: (report) => reports.push(report),
  })
  return { usage, reports }
}

describe('the events of an attempt', () => {
  it('[CALL-A1] The events of an attempt contain the usage since the previous event, once', () => {
    const { usage, reports } = usageOf({ retryIndex: 2 })
    usage.count({ costUsd: 1, inputTokens: 2, outputTokens: 3 })
    usage.count({ costUsd: 1 })
    usage.report(progress)
    usage.report(progress)
    expect(reports).toEqual([
      { ...progress, retry_index: 2, cost_usd: 2, input_tokens: 2, output_tokens: 3 },
      { ...progress, retry_index: 2 },
    ])
  })

  it.each(ends)(
    '[CALL-A2] The events of an attempt end with $type: later events are dropped',
    (end) => {
      const { usage, reports } = usageOf()
      usage.report(end)
      usage.report(progress)
      for (const other of ends) usage.report(other)
      expect(reports.map(({ type }) => type)).toEqual([end.type])
    },
  )
})

describe('[CALL-Y2] the budget of an attempt', () => {
  it.each([
    { limits: { maxCostUsd: 2 }, use: { costUsd: 2 }, breach: undefined },
    { limits: { maxCostUsd: 2 }, use: { costUsd: 2.5 }, breach: 'its cost of 2.5 USD exceeds' },
    { limits: { maxTokens: 4 }, use: { inputTokens: 1, outputTokens: 3 }, breach: undefined },
    {
      limits: { maxTokens: 4 },
      use: { inputTokens: 2, outputTokens: 3 },
      breach: 'its 5 tokens exceed the limit of 4',
    },
    { above: () => ({ costUsd: 2 }), use: { costUsd: 1 }, breach: undefined },
    {
      above: () => ({ costUsd: 2 }),
      use: { costUsd: 2 },
      breach: 'its cost of 2 USD exhausted the budget',
    },
    { above: () => ({ tokens: 3 }), use: { inputTokens: 1, outputTokens: 1 }, breach: undefined },
    {
      above: () => ({ tokens: 3 }),
      use: { inputTokens: 3 },
      breach: 'its 3 tokens exhausted',
    },
    {
      above: () => ({ tokens: 3 }),
      use: { outputTokens: 3 },
      breach: 'its 3 tokens exhausted',
    },
  ])('The budget of an attempt reports $breach for $use', ({ use, breach, ...given }) => {
    const { usage } = usageOf(given)
    usage.count(use)
    if (breach === undefined) usage.assertWithinLimits()
    else expect(() => usage.assertWithinLimits()).toThrow(breach)
  })

  it('The budget of an attempt includes earlier attempts, and reports its own cost separately', () => {
    const spent = { costUsd: 1, tokens: 10 }
    const { usage } = usageOf({ limits: { maxCostUsd: 2, maxTokens: 12 }, spent })
    expect(usage.remaining()).toEqual({ costUsd: 1, tokens: 2 })
    usage.count({ costUsd: 0.5, inputTokens: 1 })
    expect(usage.remaining()).toEqual({ costUsd: 0.5, tokens: 1 })
    expect(spent).toEqual({ costUsd: 1.5, tokens: 11 })
    expect(usage.costUsd).toBe(0.5)
  })

  it('The budget of an attempt is never negative, and never above the budget of the caller', () => {
    const above = (): { costUsd: number } => ({ costUsd: 3 })
    const { usage } = usageOf({ limits: { maxCostUsd: 9, maxTokens: 9 }, above })
    expect(usage.remaining()).toEqual({ costUsd: 3, tokens: 9 })
    usage.count({ costUsd: 5, inputTokens: 20 })
    expect(usage.remaining()).toEqual({ costUsd: 0, tokens: 0 })
  })

  it('The budget of an attempt deducts from the budget of the caller only usage that no event contains yet', () => {
    let left = 3
    const { usage } = usageOf({ above: () => ({ costUsd: left }) })
    usage.count({ costUsd: 2 })
    expect(usage.remaining().costUsd).toBe(1)
    usage.report(progress)
    left = 1
    expect(usage.remaining().costUsd).toBe(1)
  })
})
