import { getEventListeners } from 'node:events'

import { TuttiError, type Clock } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { fakeClock, type FakeClock } from '../../test/testing.ts'
import { rateLimit, type RateLimit, type TakeOptions } from './rate-limit.ts'

/** Takes turns under names; the list grows as they come, with what failed as `name: code`. */
function takeAll(limit: RateLimit, names: readonly string[], options: TakeOptions): string[] {
  const seen: string[] = []
  for (const name of names) {
    limit.take(options).then(
      () => seen.push(name),
      (error: unknown) => seen.push(`${name}: ${codeOf(error)}`),
    )
  }
  return seen
}

function codeOf(error: unknown): string {
  return TuttiError.isInstance(error) ? error.code : String(error)
}

/** A clock that lets nothing run between its timer and what the test does next. */
function handClock(): Clock & { fire(elapsedMs: number): void } {
  let now = 0
  let due: (() => void) | undefined
  return {
    now: () => now,
    elapsed: () => now,
    after(_, callback) {
      due = callback
      return () => {
        due = undefined
      }
    },
    fire(elapsedMs) {
      now = elapsedMs
      due?.()
    },
  }
}

/** Names `0`, `1`, … */
function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${n}`)
}

/** How many turns have come after each of the waits. */
async function turnsAfter(
  seen: readonly string[],
  clock: FakeClock,
  waitsMs: readonly number[],
): Promise<readonly number[]> {
  const counts: number[] = []
  for (const waitMs of waitsMs) {
    await clock.advance(waitMs)
    counts.push(seen.length)
  }
  return counts
}

describe('[ENS-R1] the pace', () => {
  it('is one call at once, then one whenever a token has come', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 4, intervalMs: 1_000 })
    const seen = takeAll(limit, names(4), { clock })
    expect(await turnsAfter(seen, clock, [0, 249, 1, 249, 1, 249, 1])).toEqual([
      1, 1, 2, 2, 3, 3, 4,
    ])
  })

  it('starts with the first call, however long after the limit was made', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 4, intervalMs: 1_000 })
    await clock.advance(60_000)
    const seen = takeAll(limit, names(3), { clock })
    expect(await turnsAfter(seen, clock, [0, 250])).toEqual([1, 2])
  })

  it('lets as many through at once as have gathered, at most all requests of an interval', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 4, intervalMs: 1_000 })
    await limit.take({ clock })
    await clock.advance(500)
    const two = takeAll(limit, names(9), { clock })
    expect(await turnsAfter(two, clock, [0, 249, 1])).toEqual([2, 2, 3])
    await clock.advance(100_000)
    const four = takeAll(limit, names(9), { clock })
    expect(await turnsAfter(four, clock, [0, 249, 1])).toEqual([4, 4, 5])
  })

  it('is even where the time of a token is no whole number', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 3, intervalMs: 1_000 })
    const seen = takeAll(limit, names(31), { clock })
    expect(await turnsAfter(seen, clock, [0, 333, 1, 9_665, 1, 1])).toEqual([1, 1, 2, 30, 31, 31])
  })

  it('never lets through more than a burst and what came since, at any instant of a long run', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 5, intervalMs: 700, maxWaitMs: Infinity })
    const seen = takeAll(limit, names(40), { clock })
    let highest = 0
    for (let step = 0; step < 60; step += 1) {
      // Uneven steps, some longer than a token takes: a busy process.
      await clock.advance((step * 37) % 301)
      highest = Math.max(highest, seen.length - (clock.elapsed() * 5) / 700)
    }
    expect(seen).toEqual(names(40))
    expect(highest).toBeLessThanOrEqual(1)
  })

  it('makes up for no more than one interval when its timer comes late', async () => {
    const clock = handClock()
    const limit = rateLimit({ requests: 2, intervalMs: 1_000 })
    const seen = takeAll(limit, names(10), { clock })
    clock.fire(60_000)
    await new Promise(setImmediate)
    expect(seen).toEqual(names(3))
  })

  it('is that of the first clock for all calls', async () => {
    const [clock, other] = [fakeClock(), fakeClock()]
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    await limit.take({ clock })
    const seen = takeAll(limit, ['a'], { clock: other })
    expect(other.pending).toBe(0)
    await clock.advance(1_000)
    expect(seen).toEqual(['a'])
  })

  it('needs no clock and no signal', async () => {
    const limit = rateLimit({ requests: 1_000, intervalMs: 1_000 })
    await limit.take()
    await limit.take({})
  })
})

describe('[ENS-R2] turns', () => {
  it('come in the order of asking, also to whoever asks later', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    await limit.take({ clock })
    const seen: string[] = []
    const ask = (name: string): void => {
      void limit.take({ clock }).then(() => seen.push(name))
    }
    ask('a')
    await clock.advance(500)
    ask('b')
    await clock.advance(500)
    ask('c')
    await clock.advance(2_000)
    expect(seen).toEqual(['a', 'b', 'c'])
  })

  it('go to those that wait first, also between the token and the timer', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 2, intervalMs: 21 })
    await limit.take({ clock })
    const waiting = takeAll(limit, ['first'], { clock })
    await clock.advance(10.7)
    const later = takeAll(limit, ['later'], { clock })
    await clock.advance(0)
    expect([waiting, later]).toEqual([[], []])
    await clock.advance(0.3)
    expect([waiting, later]).toEqual([['first'], []])
    await clock.advance(10)
    expect(later).toEqual(['later'])
  })
})

describe('[ENS-R3] a turn that cannot come in time', () => {
  it('is refused at once, and names the limit and the wait', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 2, intervalMs: 60_000 })
    await limit.take({ clock })
    const granted = takeAll(limit, ['in time'], { clock })
    await expect(limit.take({ clock })).rejects.toMatchObject({
      code: 'RATE_LIMIT_TIMEOUT',
      retryable: true,
      message:
        'Rate limit of 2 requests in 60000 ms has the next turn in 60000 ms, ' +
        'after maxWaitMs of 30000 ms',
      details: { requests: 2, intervalMs: 60_000, maxWaitMs: 30_000, waitMs: 60_000 },
    })
    await clock.advance(30_000)
    expect(granted).toEqual(['in time'])
  })

  it('is refused from the first one that would come too late, and takes no token', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 10, intervalMs: 1_000, maxWaitMs: 250 })
    const seen = takeAll(limit, names(5), { clock })
    await clock.advance(0)
    expect(seen).toEqual(['0', '3: RATE_LIMIT_TIMEOUT', '4: RATE_LIMIT_TIMEOUT'])
    await clock.advance(200)
    expect(seen.slice(3)).toEqual(['1', '2'])
    const next = takeAll(limit, ['next'], { clock })
    await clock.advance(100)
    expect(next).toEqual(['next'])
  })

  it('with no wait allowed is every one without a token', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 3, intervalMs: 1_000, maxWaitMs: 0 })
    const seen = takeAll(limit, ['a', 'b'], { clock })
    await clock.advance(0)
    expect(seen).toEqual(['a', 'b: RATE_LIMIT_TIMEOUT'])
    expect(clock.pending).toBe(0)
  })

  it('is never the first one, whatever the clock says', async () => {
    // Instants at which a sum of fractions comes out a little too late.
    for (const elapsedMs of [0.1, 0.477, 340.154, 399.343]) {
      for (const requests of [3, 7]) {
        const clock = handClock()
        clock.fire(elapsedMs)
        await rateLimit({ requests, intervalMs: 1_000, maxWaitMs: 0 }).take({ clock })
      }
    }
  })

  it('does not exist where any wait is allowed', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 3_600_000, maxWaitMs: Infinity })
    const seen = takeAll(limit, names(10), { clock })
    await clock.advance(9 * 3_600_000)
    expect(seen).toEqual(names(10))
  })
})

describe('[ENS-R4] whoever gives up', () => {
  it('is rejected with the reason of the signal, whatever that is', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    await limit.take({ clock })
    for (const reason of [new Error('Changed my mind'), 'why']) {
      const controller = new AbortController()
      const gone = limit.take({ clock, signal: controller.signal })
      controller.abort(reason)
      await expect(gone).rejects.toBe(reason)
    }
  })

  it('before asking takes nothing', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000, maxWaitMs: 0 })
    await expect(limit.take({ clock, signal: AbortSignal.abort('why') })).rejects.toBe('why')
    await limit.take({ clock })
  })

  it('gives up the place: those behind move up, and one more may come in', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000, maxWaitMs: 2_000 })
    await limit.take({ clock })
    const controller = new AbortController()
    const gone = takeAll(limit, ['gone'], { clock, signal: controller.signal })
    const behind = takeAll(limit, ['behind'], { clock })
    await clock.advance(400)
    controller.abort('why')
    const more = takeAll(limit, ['more'], { clock })
    await clock.advance(600)
    expect([gone, behind, more]).toEqual([['gone: why'], ['behind'], []])
    await clock.advance(1_000)
    expect(more).toEqual(['more'])
  })

  it('leaves those behind their turn, also when nobody else asks', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    await limit.take({ clock })
    const controller = new AbortController()
    takeAll(limit, ['gone'], { clock, signal: controller.signal })
    const behind = takeAll(limit, ['behind'], { clock })
    controller.abort('why')
    await clock.advance(1_000)
    expect(behind).toEqual(['behind'])
  })

  it('in the moment after its turn has come keeps it', async () => {
    const clock = handClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    await limit.take({ clock })
    const controller = new AbortController()
    const seen = takeAll(limit, ['a'], { clock, signal: controller.signal })
    clock.fire(1_000)
    controller.abort('too late')
    await new Promise(setImmediate)
    expect(seen).toEqual(['a'])
  })
})

describe('[ENS-R5] a limit', () => {
  it('that nobody waits for has no timer and no listener', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    const controller = new AbortController()
    const { signal } = controller
    const seen = takeAll(limit, names(3), { clock, signal })
    expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([1, 2])
    await clock.advance(2_000)
    expect(seen).toEqual(names(3))
    expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([0, 0])
  })

  it('whose last waiter gives up has none either, and serves the next', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    const controller = new AbortController()
    const seen = takeAll(limit, names(3), { clock, signal: controller.signal })
    controller.abort('why')
    await clock.advance(0)
    expect(seen).toEqual(['0', '1: why', '2: why'])
    expect([clock.pending, getEventListeners(controller.signal, 'abort').length]).toEqual([0, 0])
    const next = takeAll(limit, ['next'], { clock })
    expect(clock.pending).toBe(1)
    await clock.advance(1_000)
    expect(next).toEqual(['next'])
  })
})

describe('rateLimit', () => {
  it('shows its bounds, with a wait of 30 s when none is said', () => {
    expect(rateLimit({ requests: 2, intervalMs: 10 })).toMatchObject({
      requests: 2,
      intervalMs: 10,
      maxWaitMs: 30_000,
    })
  })

  it('refuses bounds that do not fit, all of them at once', () => {
    const bad = { requests: 0, intervalMs: 0, maxWaitMs: -1 }
    expect(() => rateLimit(bad)).toThrow(RangeError)
    expect(() => rateLimit(bad)).toThrow(
      'Cannot make a rate limit: requests must be an integer >= 1, got 0; ' +
        'intervalMs must be a number > 0, got 0; maxWaitMs must be >= 0, got -1',
    )
  })

  it.each([
    { requests: 1.5, intervalMs: 1 },
    { requests: NaN, intervalMs: 1 },
    { requests: Infinity, intervalMs: 1 },
    { requests: 1, intervalMs: Infinity },
    { requests: 1, intervalMs: NaN },
    { requests: 1, intervalMs: 1, maxWaitMs: NaN },
  ])('refuses %o', (options) => {
    expect(() => rateLimit(options)).toThrow(RangeError)
  })
})
