import { getEventListeners } from 'node:events'

import { describe, expect, it } from 'vitest'

import { recordingClock } from '../test/recording-clock.ts'
import { openScope } from './call-scope.ts'
import { TuttiClientError } from './errors.ts'

const never = new Promise<never>(() => undefined)

describe('openScope', () => {
  it('openScope resolves with the value of the promise', async () => {
    const scope = openScope(recordingClock())
    await expect(scope.race(Promise.resolve(7))).resolves.toBe(7)
    await expect(scope.race(Promise.reject(new Error('no')))).rejects.toThrow('no')
  })

  it('[CLIENT-CS1] openScope rejects with ABORTED and the reason of the caller', async () => {
    const caller = new AbortController()
    const scope = openScope(recordingClock(), [undefined, caller.signal])
    const waiting = scope.race(never)
    caller.abort('enough')
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' })
    await expect(scope.race(never)).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('[CLIENT-CS1] openScope passes the reason of an outer scope on unchanged', async () => {
    const clock = recordingClock()
    const outer = openScope(clock)
    const inner = openScope(clock, [outer.signal])
    const failure = inner.race(never).catch((error: unknown) => error)
    outer.limit(10, 'too slow')
    await clock.advance(10)
    expect(await failure).toBe(outer.signal.reason)
    expect(await failure).toMatchObject({ code: 'TIMED_OUT', message: 'too slow' })
  })

  it('[CLIENT-CS1] openScope ends at once if the caller has already aborted', async () => {
    const scope = openScope(recordingClock(), [AbortSignal.abort()])
    expect(TuttiClientError.isInstance(scope.signal.reason)).toBe(true)
    await expect(scope.race(Promise.resolve(1))).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('[CLIENT-CS2] openScope handles a promise that fails after the end', async () => {
    const caller = new AbortController()
    const scope = openScope(recordingClock(), [caller.signal])
    let fail = (_: Error): void => undefined
    const late = new Promise<never>((_, reject) => {
      fail = reject
    })
    const waiting = scope.race(late)
    caller.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
    fail(new Error('nobody hears this; the test run fails if it is unhandled'))
  })

  it('[CLIENT-CS3] openScope leaves no listener and no timer', async () => {
    const clock = recordingClock()
    const caller = new AbortController()
    const scope = openScope(clock, [caller.signal])
    const stop = scope.limit(1_000, 'too slow')
    const paused = scope.pause(500)
    await clock.advance(500)
    await paused
    await scope.race(Promise.resolve())
    stop()
    expect(getEventListeners(scope.signal, 'abort')).toEqual([])
    scope.close()
    expect(getEventListeners(caller.signal, 'abort')).toEqual([])
    expect(clock.waiting).toEqual([])
  })

  it('[CLIENT-CS3] openScope leaves no timer of an interrupted pause', async () => {
    const clock = recordingClock()
    const caller = new AbortController()
    const paused = openScope(clock, [caller.signal]).pause(500)
    caller.abort()
    await expect(paused).rejects.toMatchObject({ code: 'ABORTED' })
    expect(clock.waiting).toEqual([])
    expect(getEventListeners(caller.signal, 'abort')).toEqual([])
  })

  it('openScope has no limit if the limit is infinite', () => {
    const clock = recordingClock()
    openScope(clock).limit(Infinity, 'never')
    expect(clock.delays).toEqual([])
  })
})
