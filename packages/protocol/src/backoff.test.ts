import { describe, expect, it } from 'vitest'

import { backoffMs, withJitter } from './backoff.ts'

const LIMITS = { firstMs: 250, maxMs: 10_000 }

describe('backoffMs', () => {
  it('backoffMs doubles the first delay up to the limit', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7].map((retry) => backoffMs(retry, LIMITS))
    expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
  })

  it('backoffMs randomizes the share that is set, also of the limit', () => {
    const delayMs = (retry: number, random: number) =>
      backoffMs(retry, { ...LIMITS, jitter: 0.5, random: () => random })
    expect(delayMs(0, 0)).toBe(125)
    expect(delayMs(0, 0.5)).toBe(188)
    expect(delayMs(0, 1)).toBe(250)
    expect(delayMs(8, 0)).toBe(5_000)
  })

  it('backoffMs stays at the limit however many retries there were', () => {
    expect(backoffMs(1_000_000, LIMITS)).toBe(10_000)
  })

  it('backoffMs never exceeds the limit, also if the first delay is above it', () => {
    expect(backoffMs(0, { firstMs: 500, maxMs: 100 })).toBe(100)
  })

  it('backoffMs is random by default when it has a random share', () => {
    const delays = new Set(
      Array.from({ length: 20 }, () => backoffMs(0, { firstMs: 1e9, maxMs: 1e9, jitter: 1 })),
    )
    expect(delays.size).toBeGreaterThan(1)
  })
})

it('withJitter subtracts up to the share', () => {
  expect(withJitter(5_000, { jitter: 0.1, random: () => 0 })).toBe(4_500)
  expect(withJitter(5_000, { jitter: 0.1, random: () => 1 })).toBe(5_000)
})
