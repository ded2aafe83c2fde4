import { USAGE_EXTENSION } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { addEventUsage, NO_RUN_USAGE, toUsageMetadata } from './usage.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** An event with only the fields that are read. */
const event = (fields: object): LoggedRunEvent => fields as LoggedRunEvent

const turn = (inputTokens: number, outputTokens: number, costUsd?: number): LoggedRunEvent =>
  event({
    type: 'llm_iteration_completed',
    inputTokens,
    outputTokens,
    ...(costUsd === undefined ? {} : { costUsd }),
  })

describe('addEventUsage', () => {
  it('adds up model turns and calls of other agents', () => {
    const agent = event({ type: 'agent_tool_completed', cost_usd: 2, input_tokens: 7 })
    const events = [turn(1, 2, 0.5), turn(3, -1, 0.25), agent, event({ type: 'tool_called' })]
    expect(events.reduce(addEventUsage, NO_RUN_USAGE)).toEqual({
      tokens: 13,
      knownCostUsd: 2.75,
      hasUnknownCost: false,
    })
  })

  it('marks the cost as unknown after a model without a price was used', () => {
    const events = [turn(1, 1, 0.5), turn(1, 1), turn(1, 1, 0.5)]
    expect(events.reduce(addEventUsage, NO_RUN_USAGE)).toEqual({
      tokens: 6,
      knownCostUsd: 1,
      hasUnknownCost: true,
    })
    expect(addEventUsage(NO_RUN_USAGE, turn(0, 0))).toEqual(NO_RUN_USAGE)
  })
})

describe('toUsageMetadata', () => {
  it('returns the totals and the cost since an earlier usage, and omits an unknown cost', () => {
    const before = { tokens: 1, knownCostUsd: 1, hasUnknownCost: false }
    const now = { tokens: 5, knownCostUsd: 3, hasUnknownCost: false }
    const totals = { total_tokens: 5, total_cost_usd: 3 }
    expect(toUsageMetadata(now)).toEqual({ [USAGE_EXTENSION]: totals })
    expect(toUsageMetadata(now, before)).toEqual({ [USAGE_EXTENSION]: { ...totals, cost_usd: 2 } })
    expect(toUsageMetadata({ ...now, hasUnknownCost: true }, before)).toEqual({
      [USAGE_EXTENSION]: { total_tokens: 5 },
    })
  })
})
