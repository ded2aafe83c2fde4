import { describe, expect, it } from 'vitest'

import { parseRetryAfter } from './read-answer.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

describe('parseRetryAfter', () => {
  it.each([
    [null, undefined],
    ['0', 0],
    ['7', 7_000],
    [' 120 ', 120_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026', 2_026_000],
  ])('parseRetryAfter parses %j as %j', (header, expected) => {
    expect(parseRetryAfter(header, NOW)).toBe(expected)
  })
})
