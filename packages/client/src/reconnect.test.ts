import { describe, expect, it } from 'vitest'

import { backoffMs } from './reconnect.ts'

const limits = { baseDelayMs: 250, maxDelayMs: 10_000 }

describe('backoffMs', () => {
  it('doubles from the base up to the limit', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) =>
      backoffMs(attempt, { ...limits, random: () => 1 }),
    )
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
  })

  it('randomizes at most half of the delay', () => {
    expect(backoffMs(1, { ...limits, random: () => 0 })).toBe(125)
    expect(backoffMs(1, { ...limits, random: () => 0.5 })).toBe(188)
    expect(backoffMs(9, { ...limits, random: () => 0 })).toBe(5_000)
  })

  it('stays at the limit however long the server is unavailable', () => {
    expect(backoffMs(1_000_000, { ...limits, random: () => 1 })).toBe(10_000)
  })

  it('never exceeds the limit, also if the base is above it', () => {
    const random = (): number => 1
    expect(backoffMs(1, { baseDelayMs: 500, maxDelayMs: 100, random })).toBe(100)
  })
})
