import { describe, expect, it } from 'vitest'

import { durationMs } from './duration-ms.ts'

describe('durationMs', () => {
  it.each([
    ['PT30S', 30_000],
    ['PT1.234S', 1_234],
    ['PT2M', 120_000],
    ['PT1H30M', 5_400_000],
    ['P1D', 86_400_000],
    ['P2W', 1_209_600_000],
    ['P1DT2H3M4S', 93_784_000],
    ['PT0S', 0],
  ])('durationMs converts %s to %i ms', (text, length) => {
    expect(durationMs(text)).toBe(length)
  })

  it.each(['P1M', 'P1Y', 'P0Y1D', 'P', 'PT', '30', 'PT-5S', ''])(
    'durationMs returns undefined for %j',
    (text) => {
      expect(durationMs(text)).toBeUndefined()
    },
  )
})
