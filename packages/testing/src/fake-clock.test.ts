import { isoNow, sleep } from '@tutti/core/internal'
import { describe, expect, it, vi } from 'vitest'

import { fakeClock, type FakeClock } from './fake-clock.ts'

/** Returns a list of entries with their times. */
function createDiary(clock: FakeClock): {
  readonly lines: string[]
  write(what: string): void
} {
  const lines: string[] = []
  return {
    lines,
    write(what) {
      lines.push(`${clock.elapsed()} ${what}`)
    },
  }
}

describe('fakeClock', () => {
  it('fakeClock does not advance on its own', async () => {
    const clock = fakeClock()
    const called = vi.fn<() => void>()
    clock.after(0, called)
    await new Promise((resolve) => {
      setTimeout(resolve, 0)
    })
    expect(called).not.toHaveBeenCalled()
    expect(clock.elapsed()).toBe(0)
  })

  it('fakeClock starts at the given time, by default at the start of 2026', async () => {
    const clock = fakeClock(Date.UTC(2030, 4, 5))
    await clock.advance(1_500)
    expect(isoNow(clock)).toBe('2030-05-05T00:00:01.500Z')
    expect(clock.elapsed()).toBe(1_500)
    expect(isoNow(fakeClock())).toBe('2026-01-01T00:00:00.000Z')
  })

  it('fakeClock does not wait for real time, however many timers are due', async () => {
    const clock = fakeClock()
    const days = 3
    let minutes = 0
    const tick = (): void => {
      minutes += 1
      clock.after(60_000, tick)
    }
    clock.after(60_000, tick)
    const startedAt = performance.now()
    await clock.advance(days * 86_400_000)
    expect(minutes).toBe(days * 1_440)
    // A real timer takes at least a millisecond.
    expect(performance.now() - startedAt).toBeLessThan(minutes)
  })

  it('fakeClock calls timers late that were due while the event loop was blocked', async () => {
    const clock = fakeClock()
    const { lines, write } = createDiary(clock)
    clock.after(10, () => {
      write('late')
    })
    clock.block(25)
    expect(lines).toEqual([])
    await clock.advance(0)
    expect(lines).toEqual(['25 late'])
  })

  it('fakeClock calls due timers in order of their times, and timers with the same time in order of creation', async () => {
    const clock = fakeClock()
    const { lines, write } = createDiary(clock)
    clock.after(30, () => {
      write('c')
    })
    clock.after(10, () => {
      write('a')
    })
    clock.after(30, () => {
      write('d')
    })
    clock.after(20, () => {
      write('b')
    })
    clock.after(31, () => {
      write('too late')
    })
    await clock.advance(30)
    expect(lines).toEqual(['10 a', '20 b', '30 c', '30 d'])
    expect(clock.elapsed()).toBe(30)
  })

  it('fakeClock calls a timer at the very end of an advance, and only once', async () => {
    const clock = fakeClock()
    const called = vi.fn<() => void>()
    clock.after(10, called)
    await clock.advance(9)
    expect(called).not.toHaveBeenCalled()
    await clock.advance(1)
    await clock.advance(100)
    expect(called).toHaveBeenCalledOnce()
  })

  it('fakeClock never calls a stopped timer, also if an earlier timer stops it', async () => {
    const clock = fakeClock()
    const called = vi.fn<() => void>()
    const stop = clock.after(20, called)
    clock.after(10, stop)
    clock.after(20, called)()
    await clock.advance(100)
    expect(called).not.toHaveBeenCalled()
    stop()
  })

  it('fakeClock calls timers that other timers set within the same advance if they are due', async () => {
    const clock = fakeClock()
    const { lines, write } = createDiary(clock)
    clock.after(10, () => {
      write('outer')
      clock.after(5, () => {
        write('inner')
        clock.after(0, () => {
          write('at once')
        })
        clock.after(100, () => {
          write('later')
        })
      })
    })
    clock.after(12, () => {
      write('between')
    })
    await clock.advance(50)
    expect(lines).toEqual(['10 outer', '12 between', '15 inner', '15 at once'])
    await clock.advance(65)
    expect(lines.at(-1)).toBe('115 later')
  })

  it('fakeClock runs async work between two timers before the next one is due', async () => {
    const clock = fakeClock()
    const { lines, write } = createDiary(clock)
    const walk = async (): Promise<void> => {
      for (const step of [10, 20, 30]) {
        await sleep(clock, step)
        await Promise.resolve()
        write(`walked ${step}`)
      }
    }
    const walking = walk()
    clock.after(35, () => {
      write('timer')
    })
    await clock.advance(60)
    expect(lines).toEqual(['10 walked 10', '30 walked 20', '35 timer', '60 walked 30'])
    await walking
  })

  it('fakeClock runs ready promises first, so that their timers are due within the same advance', async () => {
    const clock = fakeClock()
    const called = vi.fn<() => void>()
    void Promise.resolve().then(() => clock.after(10, called))
    await clock.advance(10)
    expect(called).toHaveBeenCalledOnce()
  })

  it('fakeClock counts the waiting timers', async () => {
    const clock = fakeClock()
    clock.after(10, () => undefined)
    const stop = clock.after(20, () => undefined)
    expect(clock.pending).toBe(2)
    stop()
    expect(clock.pending).toBe(1)
    await clock.advance(10)
    expect(clock.pending).toBe(0)
  })

  it('fakeClock never goes back, neither for a negative delay nor for overlapping advances', async () => {
    const clock = fakeClock()
    await clock.advance(100)
    const { lines, write } = createDiary(clock)
    clock.after(-50, () => {
      write('overdue')
    })
    await Promise.all([clock.advance(10), clock.advance(1_000)])
    expect(lines).toEqual(['100 overdue'])
    expect(clock.elapsed()).toBe(1_100)
  })

  it('fakeClock never calls a timer with an infinite delay', async () => {
    const clock = fakeClock()
    const called = vi.fn<() => void>()
    clock.after(Infinity, called)
    await clock.advance(1e12)
    expect(called).not.toHaveBeenCalled()
    expect(clock.pending).toBe(1)
  })
})
