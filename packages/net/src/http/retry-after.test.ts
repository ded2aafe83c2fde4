import { describe, expect, it } from 'vitest'

import { readRetryAfter } from './retry-after.ts'

const NOW = Date.UTC(2026, 0, 1)

describe('readRetryAfter', () => {
  it.each([
    ['120', 120_000],
    [' 3 ', 3000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['later', undefined],
    [null, undefined],
  ])('readRetryAfter reads %j as %j ms', (value, expected) => {
    expect(readRetryAfter(value, NOW)).toBe(expected)
  })
})
