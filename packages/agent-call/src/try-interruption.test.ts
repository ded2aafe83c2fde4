import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../../tooling/test-kit/clock.ts'
import { TryInterruption } from './try-interruption.ts'

interface Interrupting {
  readonly clock: ReturnType<typeof fakeClock>
  readonly interruption: TryInterruption
  readonly cancel: (reason?: unknown) => void
}

function interrupting(timeoutMs = Infinity, idleTimeoutMs = Infinity): Interrupting {
  const clock = fakeClock()
  const controller = new AbortController()
  const interruption = new TryInterruption({
    clock,
    limits: { timeoutMs, idleTimeoutMs },
    signal: controller.signal,
  })
  return { clock, interruption, cancel: (reason) => controller.abort(reason) }
}

/** Returns the reason of the interruption; undefined without one. */
function reasonOf(interruption: TryInterruption): unknown {
  try {
    interruption.throwIfInterrupted()
    return undefined
  } catch (error) {
    return error
  }
}

describe('a wait of an attempt', () => {
  it('A wait of an attempt ends with the first interruption, and so does every later one', async () => {
    const { clock, interruption, cancel } = interrupting(200, 100)
    interruption.start()
    interruption.throwIfInterrupted()
    const waiting = interruption.wait(new Promise<void>(() => undefined))
    const rejected = expect(waiting).rejects.toMatchObject({ reason: 'idle_timeout' })
    await clock.advance(100)
    cancel()
    await rejected
    const later = interruption.wait(Promise.resolve(1))
    await expect(later).rejects.toMatchObject({ reason: 'idle_timeout' })
    expect(reasonOf(interruption)).toMatchObject({ reason: 'idle_timeout' })
  })

  it('A wait of an attempt settles with the promise when no interruption comes before it', async () => {
    const { interruption, cancel } = interrupting()
    expect(await interruption.wait(Promise.resolve(1))).toBe(1)
    await expect(interruption.wait(Promise.reject(new Error('Own')))).rejects.toThrow('Own')
    const ready = interruption.wait(Promise.resolve(2))
    await Promise.resolve()
    cancel()
    expect(await ready).toBe(2)
  })

  it('A wait of an attempt handles rejections after an interruption', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => {
      unhandled.push(reason)
    }
    process.on('unhandledRejection', note)
    const { interruption, cancel } = interrupting()
    const { promise, reject } = Promise.withResolvers<void>()
    const waiting = interruption.wait(promise).catch((error: unknown) => error)
    cancel()
    reject(new Error('Late'))
    const next = interruption.wait(Promise.reject(new Error('Later'))).catch(() => undefined)
    await Promise.all([waiting, next])
    await new Promise(setImmediate)
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('A wait of an attempt is interrupted by a cancel before the attempt, but not after its end', () => {
    const clock = fakeClock()
    const limits = { timeoutMs: Infinity, idleTimeoutMs: Infinity }
    const before = new TryInterruption({ clock, limits, signal: AbortSignal.abort() })
    expect(reasonOf(before)).toMatchObject({ reason: 'cancelled' })
    const { interruption, cancel } = interrupting()
    interruption.dispose()
    cancel()
    expect(reasonOf(interruption)).toBeUndefined()
  })
})

describe('[CALL-Y1] the timers of an attempt', () => {
  it('The timers of an attempt report the limit that was reached', async () => {
    const idle = interrupting(200, 100)
    idle.interruption.start()
    await idle.clock.advance(200)
    expect(reasonOf(idle.interruption)).toMatchObject({
      reason: 'idle_timeout',
      message: 'no data arrived for 100 ms',
      retryable: true,
    })
    const late = interrupting(200)
    late.interruption.start()
    await late.clock.advance(200)
    expect(reasonOf(late.interruption)).toMatchObject({
      reason: 'timeout',
      message: 'it took longer than 200 ms',
      retryable: true,
    })
  })

  it('The timers of an attempt run neither before they are started nor after they are stopped', async () => {
    const { clock, interruption } = interrupting(200, 100)
    expect([interruption.leftMs(), clock.pending]).toEqual([Infinity, 0])
    interruption.start()
    expect([interruption.leftMs(), clock.pending]).toEqual([200, 2])
    interruption.stop()
    expect([interruption.leftMs(), clock.pending]).toEqual([Infinity, 0])
    await clock.advance(500)
    expect(reasonOf(interruption)).toBeUndefined()
  })

  it('The timers of an attempt restart with their full time after each start, and leave no timer', async () => {
    const { clock, interruption } = interrupting(200)
    interruption.start()
    await clock.advance(150)
    expect(interruption.leftMs()).toBe(50)
    interruption.start()
    expect([interruption.leftMs(), clock.pending]).toEqual([200, 1])
    await clock.advance(199)
    expect(reasonOf(interruption)).toBeUndefined()
  })

  it('The timers of an attempt are paused while two questions are open, until both are answered', async () => {
    const { clock, interruption } = interrupting(200, 100)
    interruption.start()
    await clock.advance(50)
    const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
    const asked = [
      interruption.whilePaused(() => first.promise),
      interruption.whilePaused(() => second.promise),
    ]
    first.resolve(1)
    await clock.advance(1_000)
    expect([clock.pending, interruption.leftMs()]).toEqual([0, 150])
    second.resolve(2)
    expect(await Promise.all(asked)).toEqual([1, 2])
    await clock.advance(99)
    expect(reasonOf(interruption)).toBeUndefined()
    await clock.advance(1)
    expect(reasonOf(interruption)).toMatchObject({ reason: 'idle_timeout' })
  })

  it('The timers of an attempt continue after a failed question', async () => {
    const { clock, interruption } = interrupting(200)
    interruption.start()
    const failing = interruption.whilePaused(() => Promise.reject(new Error('No')))
    await expect(failing).rejects.toThrow('No')
    await clock.advance(200)
    expect(reasonOf(interruption)).toMatchObject({ reason: 'timeout' })
  })

  it.each(['stop', 'start'] as const)(
    'The timers of an attempt ignore a question from before a %s',
    async (how) => {
      const { clock, interruption } = interrupting(200, 100)
      interruption.start()
      const { promise, resolve } = Promise.withResolvers<void>()
      const asked = interruption.whilePaused(() => promise)
      interruption[how]()
      const { pending } = clock
      resolve()
      await asked
      expect(clock.pending).toBe(pending)
      interruption.stop()
      expect(clock.pending).toBe(0)
      expect(reasonOf(interruption)).toBeUndefined()
    },
  )
})
