import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../../tooling/test-kit/clock.ts'
import { IdleTimer } from './idle-timer.ts'

function timer(limitMs = 100): {
  clock: ReturnType<typeof fakeClock>
  idle: IdleTimer
  rings: number[]
} {
  const clock = fakeClock()
  const rings: number[] = []
  const idle = new IdleTimer(clock, limitMs, () => rings.push(clock.elapsed()))
  return { clock, idle, rings }
}

describe('an idle timer', () => {
  it('An idle timer fires once, after its time without activity', async () => {
    const { clock, rings } = timer()
    await clock.advance(1_000)
    expect(rings).toEqual([100])
    expect(clock.pending).toBe(0)
  })

  it('An idle timer restarts with any activity', async () => {
    const { clock, idle, rings } = timer()
    await clock.advance(60)
    idle.touch()
    await clock.advance(99)
    expect(rings).toEqual([])
    await clock.advance(1)
    expect(rings).toEqual([160])
  })

  it('An idle timer is paused until every pause is over, and then restarts', async () => {
    const { clock, idle, rings } = timer()
    idle.pause()
    idle.pause()
    expect(clock.pending).toBe(0)
    idle.resume()
    await clock.advance(1_000)
    expect(rings).toEqual([])
    idle.resume()
    await clock.advance(99)
    expect(rings).toEqual([])
    await clock.advance(1)
    expect(rings).toEqual([1_100])
  })

  it('An idle timer does not count paused time as silence', async () => {
    const { clock, idle, rings } = timer()
    await clock.advance(90)
    idle.pause()
    await clock.advance(500)
    idle.resume()
    idle.pause()
    idle.resume()
    await clock.advance(99)
    expect([rings, clock.pending]).toEqual([[], 1])
    await clock.advance(1)
    expect(rings).toEqual([690])
  })

  it('An idle timer starts no timer without a limit', () => {
    const { clock, idle } = timer(Infinity)
    idle.pause()
    idle.resume()
    expect(clock.pending).toBe(0)
  })
})
