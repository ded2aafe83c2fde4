import { expect, it } from 'vitest'

import { formatJavaDuration } from './iso-duration.ts'

it.each([
  [0, 'PT0S'],
  [1, 'PT0.001S'],
  [1_234, 'PT1.234S'],
  [60_000, 'PT1M'],
  [61_500, 'PT1M1.5S'],
  [3_600_000, 'PT1H'],
  [90_061_001, 'PT25H1M1.001S'],
  [0.4, 'PT0S'],
  [-5, 'PT0S'],
])('The ISO 8601 duration of %d ms is %s', (ms, text) => {
  expect(formatJavaDuration(ms)).toBe(text)
})
