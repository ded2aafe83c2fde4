import { expect, test } from 'vitest'

import { retryDelayMs } from './retry.ts'

const PASSING = { retryable: true, details: undefined }

test('waits double up to eight seconds', () => {
  const waits = [0, 1, 2, 3, 4, 5, 6].map((retries) =>
    retryDelayMs(PASSING, { retries, maxRetries: 9, random: 0 }),
  )
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
})

test('chance takes up to a quarter off', () => {
  expect(retryDelayMs(PASSING, { retries: 0, maxRetries: 1, random: 1 })).toBe(375)
})

test('there is no retry of what cannot pass, nor beyond the number allowed', () => {
  const failed = { retryable: false, details: undefined }
  expect(retryDelayMs(failed, { retries: 0, maxRetries: 5, random: 0 })).toBeUndefined()
  expect(retryDelayMs(PASSING, { retries: 2, maxRetries: 2, random: 0 })).toBeUndefined()
})

test.each([
  [0, 0],
  [60_000, 60_000],
  [60_001, undefined],
])('a wait of %i ms that the provider asks for gives %s', (retryAfterMs, delayMs) => {
  const failed = { retryable: true, details: { retryAfterMs } }
  expect(retryDelayMs(failed, { retries: 0, maxRetries: 1, random: 0.5 })).toBe(delayMs)
})
