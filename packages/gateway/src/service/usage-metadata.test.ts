import { NO_RUN_USAGE, USAGE_EXTENSION } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { toUsageMetadata } from './usage-metadata.ts'

describe('toUsageMetadata', () => {
  it('toUsageMetadata returns the totals and the cost since an earlier usage, and omits an unknown cost', () => {
    const before = { ...NO_RUN_USAGE, tokens: 1, knownCostUsd: 1, hasUnknownCost: false }
    const now = { ...NO_RUN_USAGE, tokens: 5, knownCostUsd: 3, hasUnknownCost: false }
    const totals = { total_tokens: 5, total_cost_usd: 3 }
    expect(toUsageMetadata(now)).toEqual({ [USAGE_EXTENSION]: totals })
    expect(toUsageMetadata(now, before)).toEqual({ [USAGE_EXTENSION]: { ...totals, cost_usd: 2 } })
    expect(toUsageMetadata({ ...now, hasUnknownCost: true }, before)).toEqual({
      [USAGE_EXTENSION]: { total_tokens: 5 },
    })
  })
})
