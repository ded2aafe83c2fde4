import { expect, it } from 'vitest'

import { DEFAULT_MODEL_RETRIES, computeModelRetryDelay } from './retry-delay.ts'

const PASSING = { retryable: true, details: undefined }
const FIRST = { retries: 0, maxRetries: 1, random: () => 1 }

it('computeModelRetryDelay doubles the wait, up to eight seconds', () => {
  const waits = [0, 1, 2, 3, 4, 5, 2_000].map((retries) =>
    computeModelRetryDelay(PASSING, { retries, maxRetries: 2_001, random: () => 1 }),
  )
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
})

it('computeModelRetryDelay subtracts up to a quarter at random', () => {
  expect(computeModelRetryDelay(PASSING, { ...FIRST, random: () => 0.5 })).toBe(438)
  expect(computeModelRetryDelay(PASSING, { ...FIRST, random: () => 0 })).toBe(375)
})

it('computeModelRetryDelay returns undefined for permanent failures and beyond the allowed number', () => {
  const failed = { retryable: false, details: { retryAfterMs: 5 } }
  expect(computeModelRetryDelay(failed, { ...FIRST, maxRetries: 5 })).toBeUndefined()
  expect(computeModelRetryDelay(PASSING, { ...FIRST, retries: 1, maxRetries: 2 })).toBe(1_000)
  expect(computeModelRetryDelay(PASSING, { ...FIRST, retries: 2, maxRetries: 2 })).toBeUndefined()
  expect(computeModelRetryDelay(PASSING, { ...FIRST, maxRetries: 0 })).toBeUndefined()
})

it.each([
  [0, 0],
  [60_000, 60_000],
  [60_001, undefined],
  [Infinity, undefined],
])('computeModelRetryDelay turns a requested wait of %d ms into %s', (retryAfterMs, delayMs) => {
  const failed = { retryable: true, details: { retryAfterMs } }
  expect(computeModelRetryDelay(failed, { ...FIRST, random: () => 0.5 })).toBe(delayMs)
})

it.each([-1, NaN, '5', null])(
  'computeModelRetryDelay ignores an invalid requested wait (%s)',
  (asked) => {
    expect(
      computeModelRetryDelay({ retryable: true, details: { retryAfterMs: asked } }, FIRST),
    ).toBe(500)
  },
)

it('The default is two retries', () => {
  expect(DEFAULT_MODEL_RETRIES).toEqual({ maxRetries: 2 })
})
