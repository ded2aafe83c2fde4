import { getEventListeners } from 'node:events'

import { TuttiError, type Clock } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { fakeClock, type FakeClock } from '../../test/testing.ts'
import { rateLimit, type RateLimit, type TakeOptions } from './rate-limit.ts'

/**
 * Takes turns under names. The returned list grows as turns are granted; a failure is listed as `name: code`.
 */
function takeAll(limit: RateLimit, names: readonly string[], options: TakeOptions): string[] {
  const seen: string[] = []
  for (const name of names) {
    limit.take(options).then(
      () => seen.push(name),
      (error: unknown) => seen.push(`${name}: ${readCode(error)}`),
    )
  }
  return seen
}

function readCode(error: unknown): string {
  return TuttiError.isInstance(error) ? error.code : String(error)
}

/** Returns a clock whose timer fires without any other code running before the test continues. */
function createManualClock(): Clock & { fire(elapsedMs: number): void } {
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

/** Returns the names `0`, `1`, and so on. */
function createNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${n}`)
}

/** Returns the number of granted turns after each wait. */
async function countTurnsAfter(
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

describe('[ENS-R1] the rate', () => {
  it('The rate of a limit allows one call at once, then one for each token that arrives', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 4, intervalMs: 1_000 })
    const seen = takeAll(limit, createNames(4), { clock })
    expect(await countTurnsAfter(seen, clock, [0, 249, 1, 249, 1, 249, 1])).toEqual([
      1, 1, 2, 2, 3, 3, 4,
    ])
  })

  it('A rate limit says whether a call has waited', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 4, intervalMs: 1_000 })
    expect(await limit.take({ clock })).toBe(false)
    const waiting = limit.take({ clock })
    await clock.advance(250)
    expect(await waiting).toBe(true)
  })

  it('The rate of a limit starts with the first call, regardless of when the limit was created', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 4, intervalMs: 1_000 })
    await clock.advance(60_000)
    const seen = takeAll(limit, createNames(3), { clock })
    expect(await countTurnsAfter(seen, clock, [0, 250])).toEqual([1, 2])
  })

  it('The rate of a limit allows as many calls at once as tokens have accumulated, at most all requests of an interval', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 4, intervalMs: 1_000 })
    await limit.take({ clock })
    await clock.advance(500)
    const two = takeAll(limit, createNames(9), { clock })
    expect(await countTurnsAfter(two, clock, [0, 249, 1])).toEqual([2, 2, 3])
    await clock.advance(100_000)
    const four = takeAll(limit, createNames(9), { clock })
    expect(await countTurnsAfter(four, clock, [0, 249, 1])).toEqual([4, 4, 5])
  })

  it('The rate of a limit is even if the time of a token is not an integer', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 3, intervalMs: 1_000 })
    const seen = takeAll(limit, createNames(31), { clock })
    expect(await countTurnsAfter(seen, clock, [0, 333, 1, 9_665, 1, 1])).toEqual([
      1, 1, 2, 30, 31, 31,
    ])
  })

  it('The rate of a limit never exceeds one burst plus the tokens that have arrived, over a long run', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 5, intervalMs: 700, maxWaitMs: Infinity })
    const seen = takeAll(limit, createNames(40), { clock })
    let highest = 0
    for (let step = 0; step < 60; step += 1) {
      // Uneven steps, some longer than the time of a token, as in a busy process.
      await clock.advance((step * 37) % 301)
      highest = Math.max(highest, seen.length - (clock.elapsed() * 5) / 700)
    }
    expect(seen).toEqual(createNames(40))
    expect(highest).toBeLessThanOrEqual(1)
  })

  it('The rate of a limit allows at most one interval of tokens when its timer is late', async () => {
    const clock = createManualClock()
    const limit = rateLimit({ requests: 2, intervalMs: 1_000 })
    const seen = takeAll(limit, createNames(10), { clock })
    clock.fire(60_000)
    await new Promise(setImmediate)
    expect(seen).toEqual(createNames(3))
  })

  it('The rate of a limit uses the first clock for all calls', async () => {
    const [clock, other] = [fakeClock(), fakeClock()]
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    await limit.take({ clock })
    const seen = takeAll(limit, ['a'], { clock: other })
    expect(other.pending).toBe(0)
    await clock.advance(1_000)
    expect(seen).toEqual(['a'])
  })

  it('The rate of a limit needs no clock and no signal', async () => {
    const limit = rateLimit({ requests: 1_000, intervalMs: 1_000 })
    await limit.take()
    await limit.take({})
  })
})

describe('[ENS-R2] turns', () => {
  it('Turns of a rate limit are granted in the order of arrival, also to later calls', async () => {
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

  it('Turns of a rate limit are granted to waiting calls first, also between the arrival of a token and the timer', async () => {
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
  it('A turn that cannot come in time is rejected at once, with the limit and the wait', async () => {
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

  it('A turn that cannot come in time takes no token, so that the following calls are not delayed', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 10, intervalMs: 1_000, maxWaitMs: 250 })
    const seen = takeAll(limit, createNames(5), { clock })
    await clock.advance(0)
    expect(seen).toEqual(['0', '3: RATE_LIMIT_TIMEOUT', '4: RATE_LIMIT_TIMEOUT'])
    await clock.advance(200)
    expect(seen.slice(3)).toEqual(['1', '2'])
    const next = takeAll(limit, ['next'], { clock })
    await clock.advance(100)
    expect(next).toEqual(['next'])
  })

  it('A turn that cannot come in time is every turn without a token if no wait is allowed', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 3, intervalMs: 1_000, maxWaitMs: 0 })
    const seen = takeAll(limit, ['a', 'b'], { clock })
    await clock.advance(0)
    expect(seen).toEqual(['a', 'b: RATE_LIMIT_TIMEOUT'])
    expect(clock.pending).toBe(0)
  })

  it('A turn that cannot come in time is never the first one, at any time of the clock', async () => {
    // Times at which a sum of fractions is slightly too high.
    for (const elapsedMs of [0.1, 0.477, 340.154, 399.343]) {
      for (const requests of [3, 7]) {
        const clock = createManualClock()
        clock.fire(elapsedMs)
        await rateLimit({ requests, intervalMs: 1_000, maxWaitMs: 0 }).take({ clock })
      }
    }
  })

  it('A turn that cannot come in time does not exist if any wait is allowed', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 3_600_000, maxWaitMs: Infinity })
    const seen = takeAll(limit, createNames(10), { clock })
    await clock.advance(9 * 3_600_000)
    expect(seen).toEqual(createNames(10))
  })
})

describe('[ENS-R4] an aborted call', () => {
  it('An aborted call of a rate limit is rejected with the reason of the signal, of any type', async () => {
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

  it('An aborted call of a rate limit takes no token if it was aborted before', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000, maxWaitMs: 0 })
    await expect(limit.take({ clock, signal: AbortSignal.abort('why') })).rejects.toBe('why')
    await limit.take({ clock })
  })

  it('An aborted call of a rate limit leaves the queue, so that those behind it move up and another call fits', async () => {
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

  it('An aborted call of a rate limit does not delay those behind it, also without further calls', async () => {
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

  it('An aborted call of a rate limit keeps a turn that was granted just before the abort', async () => {
    const clock = createManualClock()
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
  it('A rate limit has no timer and no listener without waiting calls', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    const controller = new AbortController()
    const { signal } = controller
    const seen = takeAll(limit, createNames(3), { clock, signal })
    expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([1, 2])
    await clock.advance(2_000)
    expect(seen).toEqual(createNames(3))
    expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([0, 0])
  })

  it('A rate limit has no timer and no listener after its last waiting call is aborted, and serves the next call', async () => {
    const clock = fakeClock()
    const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
    const controller = new AbortController()
    const seen = takeAll(limit, createNames(3), { clock, signal: controller.signal })
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
  it('rateLimit has a maximum wait of 30 s by default', () => {
    expect(rateLimit({ requests: 2, intervalMs: 10 })).toMatchObject({
      requests: 2,
      intervalMs: 10,
      maxWaitMs: 30_000,
    })
  })

  it('rateLimit rejects invalid limits, all of them at once', () => {
    const bad = { requests: 0, intervalMs: 0, maxWaitMs: -1 }
    expect(() => rateLimit(bad)).toThrow(RangeError)
    expect(() => rateLimit(bad)).toThrow(
      'Cannot create a rate limit: requests must be an integer >= 1, got 0; ' +
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
  ])('rateLimit rejects %o', (options) => {
    expect(() => rateLimit(options)).toThrow(RangeError)
  })
})
