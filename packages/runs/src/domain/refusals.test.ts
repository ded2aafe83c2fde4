import { describe, expect, it } from 'vitest'

import {
  assertRoom,
  assertWithinQuota,
  idempotencyConflict,
  toActorKey,
  type ActorUse,
} from './refusals.ts'

import type { Quota } from './quota.ts'

const SINCE = Date.parse('2026-03-01T00:00:00Z')

describe('idempotencyConflict', () => {
  it.each([
    ['idem-1', undefined],
    ['idem-1', 'b'],
    ['["b","idem-1"]', undefined],
    ['["b","idem-1"]', 'b'],
    ['"', 'a "b"'],
  ])(
    '[RUNS-S6] idempotencyConflict names the key %s of actor %s as its caller sent it',
    (key, actor) => {
      const message = `The idempotency key "${key}" was used for another request`
      expect(idempotencyConflict(toActorKey(key, actor), actor)).toMatchObject({ message })
    },
  )
})

describe('assertWithinQuota', () => {
  it.for<readonly [Omit<Quota, 'actor'>, ActorUse]>([
    [{}, { unfinished: 1e9, spentUsd: 1e9 }],
    [{ maxUnfinishedRuns: 3 }, { unfinished: 2, spentUsd: 1e9 }],
    [{ spend: { maxCostUsd: 2, since: SINCE } }, { unfinished: 1e9, spentUsd: 1.999_999 }],
  ])(
    '[RUNS-P11] assertWithinQuota accepts a run within the limits %j with the usage %j',
    ([limits, use]) => {
      expect(() => {
        assertWithinQuota({ actor: 'ci', ...limits }, use)
      }).not.toThrow()
    },
  )

  it.for([
    [0, 0, '0 unfinished runs; its limit is 0'],
    [1, 1, '1 unfinished run; its limit is 1'],
    [3, 3, '3 unfinished runs; its limit is 3'],
    [4, 2, '4 unfinished runs; its limit is 2'],
  ] as const)(
    '[RUNS-P11] assertWithinQuota refuses a run when there are %i of at most %i',
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
    '[RUNS-P11] assertWithinQuota refuses a run when $%f of $%f are spent',
    ([spentUsd, maxCostUsd, spent, max]) => {
      const quota = { actor: 'ci', maxUnfinishedRuns: 9, spend: { maxCostUsd, since: SINCE } }
      expect(() => {
        assertWithinQuota(quota, { unfinished: 8, spentUsd })
      }).toThrow(
        expect.objectContaining({
          code: 'SPEND_LIMIT',
          message: `Key "ci" has spent ${spent} since 2026-03-01T00:00:00.000Z; its limit is ${max}`,
          retryable: true,
          details: { spentUsd, maxCostUsd },
        }),
      )
    },
  )
})

describe('assertRoom', () => {
  it('[RUNS-P1] assertRoom accepts the last run within the limit and refuses the next', () => {
    expect(() => {
      assertRoom(1, 2)
    }).not.toThrow()
    expect(() => {
      assertRoom(2, 2)
    }).toThrow(expect.objectContaining({ code: 'CONCURRENCY_LIMIT', retryable: true }))
  })
})
