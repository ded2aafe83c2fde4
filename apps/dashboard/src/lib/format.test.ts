import { describe, expect, it } from 'vitest'

import {
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoney,
  formatPlural,
  formatShortId,
  UNKNOWN,
} from './format.ts'

describe('formats', () => {
  it.each([
    [0, '0 ms'],
    [-3, '0 ms'],
    [339.6, '340 ms'],
    [1_000, '1.0 s'],
    [59_999, '59.9 s'],
    [187_000, '3 m 07 s'],
    [3_599_999, '59 m 59 s'],
    [7_500_000, '2 h 05 m'],
    [273_600_000, '3 d 4 h'],
    [null, UNKNOWN],
    [undefined, UNKNOWN],
    [Number.NaN, UNKNOWN],
  ])('The formatter formats a duration of %s ms as %s', (ms, text) =>
    expect(formatDuration(ms)).toBe(text),
  )

  it.each([
    [0, '0'],
    [812, '812'],
    [9_999, '9999'],
    [12_400, '12.4k'],
    [20_000, '20k'],
    [999_949, '1000k'],
    [3_140_000, '3.1M'],
    [-1, UNKNOWN],
    [undefined, UNKNOWN],
  ])('The formatter formats a count of %s as %s', (count, text) =>
    expect(formatCount(count)).toBe(text),
  )

  it.each([
    [0, '$0'],
    [0.000_000_1, '<$0.000001'],
    [0.004_218, '$0.0042'],
    [0.000_05, '$0.00005'],
    [0.009_999, '$0.01'],
    [0.374, '$0.37'],
    [12.8, '$12.80'],
    [1_203.6, '$1,204'],
    [undefined, UNKNOWN],
  ])('The formatter formats %s dollars as %s', (usd, text) => expect(formatMoney(usd)).toBe(text))

  it.each([
    [1_000, 'now'],
    [12_000, '12 s ago'],
    [300_000, '5 m ago'],
    [3 * 3_600_000, '3 h ago'],
    [50 * 3_600_000, '2 d ago'],
    [-5_000, 'now'],
  ])('The formatter formats the age of %s ms as %s', (ago, text) =>
    expect(formatAgo(1_000_000_000, 1_000_000_000 + ago)).toBe(text),
  )

  it('The formatter formats bytes and counts with their unit', () => {
    expect([812, 12_400, 3_140_000].map(formatBytes)).toEqual(['812 B', '12.4 kB', '3.1 MB'])
    expect([
      formatPlural(1, 'task'),
      formatPlural(3, 'task'),
      formatPlural(2, 'try', 'tries'),
    ]).toEqual(['1 task', '3 tasks', '2 tries'])
  })
})

it.each([
  ['', ''],
  ['my-own-run', 'my-own-run'],
  ['12345678901234', '12345678901234'],
  ['123456789012345', '12345678…2345'],
  ['run-6c5f0a4b-0000-4000-8000-0000000019a4', 'run-6c5f…19a4'],
])('The formatter shortens the id %j to %j', (id, shown) => expect(formatShortId(id)).toBe(shown))
