import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { RateLimits } from './rate-limits.ts'

describe('RateLimits', () => {
  it('RateLimits allows a burst of the requests of one minute, then one at a time', async () => {
    const clock = fakeClock()
    const rates = new RateLimits(clock)
    const take = (): number => rates.take('a', 60)
    expect(Array.from({ length: 60 }, take)).toEqual(Array.from({ length: 60 }, () => 0))
    expect(take()).toBe(1_000)
    await clock.advance(400)
    expect(take()).toBe(600)
    await clock.advance(600)
    expect([take(), take()]).toEqual([0, 1_000])
  })

  it('RateLimits never saves more than the requests of one minute', async () => {
    const clock = fakeClock()
    const rates = new RateLimits(clock)
    rates.take('a', 2)
    await clock.advance(3_600_000)
    expect([1, 2, 3].map(() => rates.take('a', 2))).toEqual([0, 0, 30_000])
  })

  it('RateLimits allows single requests when the limit is below one per minute', async () => {
    const clock = fakeClock()
    const rates = new RateLimits(clock)
    expect([rates.take('a', 0.5), rates.take('a', 0.5)]).toEqual([0, 120_000])
    await clock.advance(120_000)
    expect(rates.take('a', 0.5)).toBe(0)
  })

  it('RateLimits counts names separately, and forgets the least recently used one', () => {
    const rates = new RateLimits(fakeClock())
    for (let n = 0; n < 10_001; n += 1) {
      rates.take('often', 1_000_000)
      rates.take(`name-${n}`, 1)
    }
    expect(rates.size).toBe(10_000)
    expect(rates.take('name-10000', 1)).toBeGreaterThan(0)
    expect(rates.take('name-0', 1)).toBe(0)
  })
})
