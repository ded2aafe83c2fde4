import { getEventListeners } from 'node:events'

import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../../tooling/test-kit/clock.ts'
import { settle } from '../../../tooling/test-kit/wait.ts'
import { createLimiter, type Limiter } from './limiter.ts'

describe('createLimiter', () => {
  it('createLimiter grants the configured slots, then queues requests in order', async () => {
    const limiter = createLimiter({ maxConcurrent: 2 })
    const begun = begin(limiter, ['a', 'b', 'c', 'd'])
    await settle()
    expect(begun).toEqual(['a', 'b'])
    expect(limiter).toMatchObject({ running: 2, waiting: 2, maxConcurrent: 2 })
    limiter.release()
    await settle()
    expect(begun).toEqual(['a', 'b', 'c'])
    limiter.release()
    limiter.release()
    await settle()
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
    expect(limiter).toMatchObject({ running: 1, waiting: 0 })
  })

  it('createLimiter grants a slot immediately only when one is free and no request waits', async () => {
    const clock = fakeClock()
    const limiter = createLimiter({ maxConcurrent: 9, maxPerInterval: 1, clock })
    expect(limiter.tryAcquire()).toBe(true)
    expect(limiter.tryAcquire()).toBe(false)
    const begun = begin(limiter, ['a'])
    expect(limiter.tryAcquire()).toBe(false)
    await clock.advance(1_000)
    expect(begun).toEqual(['a'])
  })

  it('createLimiter lets no request overtake waiting ones, even just before they are resumed', async () => {
    const clock = fakeClock()
    const limiter = createLimiter({ maxConcurrent: 9, maxPerInterval: 1, intervalMs: 10.5, clock })
    await limiter.acquire()
    const begun = begin(limiter, ['a'])
    await clock.advance(10.7)
    expect(begun).toEqual([])
    expect(limiter.tryAcquire()).toBe(false)
    await clock.advance(1)
    expect(begun).toEqual(['a'])
  })

  it('createLimiter leaves no listener on the signal', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    const { signal } = new AbortController()
    await limiter.acquire(signal)
    const second = limiter.acquire(signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    limiter.release()
    await second
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('createLimiter rejects a waiting request whose signal aborts with the reason, and advances the next one', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    await limiter.acquire()
    const controller = new AbortController()
    const gone = limiter.acquire(controller.signal)
    const begun = begin(limiter, ['next'])
    controller.abort(new Error('Changed my mind'))
    await expect(gone).rejects.toThrow('Changed my mind')
    expect(limiter.waiting).toBe(1)
    limiter.release()
    await settle()
    expect(begun).toEqual(['next'])
  })

  it('createLimiter grants no slot to an aborted signal', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    await expect(limiter.acquire(AbortSignal.abort('why'))).rejects.toThrow('Aborted')
    expect(limiter.running).toBe(0)
  })

  it('createLimiter grants at most maxPerInterval slots in any sliding interval', async () => {
    const clock = fakeClock()
    const limiter = createLimiter({ maxConcurrent: 100, maxPerInterval: 2, intervalMs: 100, clock })
    const begun = begin(limiter, ['a'])
    await clock.advance(90)
    begun.push(...begin(limiter, []))
    const later = begin(limiter, ['b', 'c', 'd'])
    await clock.advance(9)
    expect(clock.pending).toBe(1)
    expect(later).toEqual(['b'])
    await clock.advance(1)
    expect(later).toEqual(['b', 'c'])
    await clock.advance(89)
    expect(later).toEqual(['b', 'c'])
    await clock.advance(1)
    expect(later).toEqual(['b', 'c', 'd'])
    expect(clock.pending).toBe(0)
  })

  it('createLimiter does not shorten the interval when a slot is released early', async () => {
    const clock = fakeClock()
    const limiter = createLimiter({ maxConcurrent: 1, maxPerInterval: 1, intervalMs: 50, clock })
    await limiter.acquire()
    limiter.release()
    const begun = begin(limiter, ['late'])
    await clock.advance(49)
    expect(begun).toEqual([])
    await clock.advance(1)
    expect(begun).toEqual(['late'])
  })

  it('createLimiter serves ten thousand waiting requests', async () => {
    const limiter = createLimiter({ maxConcurrent: 3 })
    let most = 0
    await Promise.all(
      Array.from({ length: 10_000 }, async () => {
        await limiter.acquire()
        most = Math.max(most, limiter.running)
        await Promise.resolve()
        limiter.release()
      }),
    )
    expect(most).toBe(3)
    expect(limiter).toMatchObject({ running: 0, waiting: 0 })
  })

  it('createLimiter rejects invalid limits and names all of them', () => {
    expect(() =>
      createLimiter({ maxConcurrent: 0, maxPerInterval: 1.5, intervalMs: Number.NaN }),
    ).toThrow(
      new RangeError(
        'Cannot create limiter: maxConcurrent must be an integer >= 1 or Infinity, got 0; ' +
          'maxPerInterval must be an integer >= 1 or Infinity, got 1.5; intervalMs must be > 0, got NaN',
      ),
    )
    expect(createLimiter({ maxConcurrent: Infinity }).maxConcurrent).toBe(Infinity)
  })
})

/** Requests a slot for each name; the names are added as their slots are granted. */
function begin(limiter: Limiter, names: readonly string[]): string[] {
  const begun: string[] = []
  for (const name of names) void limiter.acquire().then(() => begun.push(name))
  return begun
}
