import { describe, expect, it } from 'vitest'

import { resolveRetryOptions, decideRetryDelay, type FailedAttempt } from './retries.ts'

const NOW = Date.UTC(2026, 0, 1)
const attempt: FailedAttempt = {
  reason: 503,
  attempts: 1,
  now: NOW,
  leftMs: 100_000,
  random: () => 1,
}

describe('[REMOTE-T2] the delay before the next attempt', () => {
  const options = resolveRetryOptions({ max: 20 })

  it('The delay before the next attempt doubles from half a second up to ten', () => {
    const waits = [1, 2, 3, 4, 5, 6, 20].map((attempts) =>
      decideRetryDelay({ ...attempt, attempts }, options),
    )
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000])
  })

  it('The delay before the next attempt is random in its second half', () => {
    expect(decideRetryDelay({ ...attempt, random: () => 0 }, options)).toBe(250)
    expect(decideRetryDelay({ ...attempt, random: () => 0.5 }, options)).toBe(375)
  })

  it('The delay before the next attempt is the delay that the server requires, even beyond the maximum of the tool', () => {
    expect(decideRetryDelay({ ...attempt, retryAfter: '42' }, options)).toBe(42_000)
    expect(decideRetryDelay({ ...attempt, retryAfter: '0' }, options)).toBe(0)
    expect(decideRetryDelay({ ...attempt, retryAfter: 'soon' }, options)).toBe(500)
  })
})

describe('a request is not retried', () => {
  const options = resolveRetryOptions({ max: 2 })

  it('A request is not retried after the last attempt', () => {
    expect(decideRetryDelay({ ...attempt, attempts: 2 }, options)).toBe(1000)
    expect(decideRetryDelay({ ...attempt, attempts: 3 }, options)).toBeUndefined()
    expect(decideRetryDelay(attempt, resolveRetryOptions())).toBeUndefined()
  })

  it('A request is not retried for other reasons than the configured ones', () => {
    for (const reason of [429, 502, 503, 504, 'network'] as const) {
      expect(decideRetryDelay({ ...attempt, reason }, options)).toBe(500)
    }
    expect(decideRetryDelay({ ...attempt, reason: 500 }, options)).toBeUndefined()
  })

  it('[REMOTE-T3] A request is not retried when the delay would outlast the call', () => {
    expect(decideRetryDelay({ ...attempt, leftMs: 500 }, options)).toBeUndefined()
    expect(decideRetryDelay({ ...attempt, leftMs: 501 }, options)).toBe(500)
    expect(decideRetryDelay({ ...attempt, retryAfter: '100' }, options)).toBeUndefined()
  })
})
