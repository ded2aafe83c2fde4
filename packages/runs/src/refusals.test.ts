import { describe, expect, it } from 'vitest'

import { assertRoom, assertWithinQuota, type ActorUse } from './refusals.ts'

import type { Quota } from './ports/run-store.ts'

const SINCE = Date.parse('2026-03-01T00:00:00Z')

describe('assertWithinQuota', () => {
  it.for<readonly [Omit<Quota, 'actor'>, ActorUse]>([
    [{}, { unfinished: 1e9, spentUsd: 1e9 }],
    [{ maxUnfinishedRuns: 3 }, { unfinished: 2, spentUsd: 1e9 }],
    [{ spend: { maxCostUsd: 2, since: SINCE } }, { unfinished: 1e9, spentUsd: 1.999_999 }],
  ])('[RUNS-P11] lets %j pass with %j', ([limits, use]) => {
    expect(() => {
      assertWithinQuota({ actor: 'ci', ...limits }, use)
    }).not.toThrow()
  })

  it.for([
    [0, 0, '0 runs that have not ended, as many as it may'],
    [1, 1, '1 run that has not ended, as many as it may'],
    [3, 3, '3 runs that have not ended, as many as it may'],
    [4, 2, '4 runs that have not ended, it may have 2'],
  ] as const)(
    '[RUNS-P11] %i runs of at most %i are refused in words',
    ([unfinished, max, words]) => {
      const quota = { actor: 'a "b"', maxUnfinishedRuns: max }
      expect(() => {
        assertWithinQuota(quota, { unfinished, spentUsd: 0 })
      }).toThrow(
        expect.objectContaining({
          code: 'CONCURRENCY_LIMIT',
          message: `Key "a "b"" has ${words}`,
          retryable: true,
          details: { retryAfterMs: 5000, reason: 'unfinished_runs_of_key' },
        }),
      )
    },
  )

  it.for([
    [2, 2, '$2', '$2'],
    [0.1 + 0.2, 0.3, '$0.3', '$0.3'],
    [0.000_001_4, 0.000_001, '$0.000001', '$0.000001'],
    [12.5, 0, '$12.5', '$0'],
  ] as const)(
    '[RUNS-P11] %f dollars of %f are refused in words',
    ([spentUsd, maxCostUsd, spent, max]) => {
      const quota = { actor: 'ci', maxUnfinishedRuns: 9, spend: { maxCostUsd, since: SINCE } }
      expect(() => {
        assertWithinQuota(quota, { unfinished: 8, spentUsd })
      }).toThrow(
        expect.objectContaining({
          code: 'SPEND_LIMIT',
          message: `Key "ci" has spent ${spent} since 2026-03-01T00:00:00.000Z, it may spend ${max}`,
          retryable: true,
          details: { spentUsd, maxCostUsd },
        }),
      )
    },
  )
})

describe('assertRoom', () => {
  it('[RUNS-P1] lets the last one in that has room, and no other', () => {
    expect(() => {
      assertRoom(1, 2)
    }).not.toThrow()
    expect(() => {
      assertRoom(2, 2)
    }).toThrow(expect.objectContaining({ code: 'CONCURRENCY_LIMIT', retryable: true }))
  })
})
