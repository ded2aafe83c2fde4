import { describe, expect, it } from 'vitest'

import { Interruption } from './interruption.ts'

describe('an interruption', () => {
  it('ends the wait that is under way, and every later one, with its first reason', async () => {
    const interruption = new Interruption()
    interruption.throwIfHappened()
    const waiting = interruption.wait(new Promise<void>(() => undefined))
    interruption.interrupt(new Error('First'))
    interruption.interrupt(new Error('Second'))
    await expect(waiting).rejects.toThrow('First')
    await expect(interruption.wait(Promise.resolve(1))).rejects.toThrow('First')
    expect(() => interruption.throwIfHappened()).toThrow('First')
  })

  it('leaves what was there before it as it is', async () => {
    const interruption = new Interruption()
    expect(await interruption.wait(Promise.resolve(1))).toBe(1)
    await expect(interruption.wait(Promise.reject(new Error('Own')))).rejects.toThrow('Own')
    const ready = interruption.wait(Promise.resolve(2))
    await Promise.resolve()
    interruption.interrupt(new Error('Late'))
    expect(await ready).toBe(2)
  })

  it('hears what fails later, so that nothing is left unhandled', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => {
      unhandled.push(reason)
    }
    process.on('unhandledRejection', note)
    const interruption = new Interruption()
    const { promise, reject } = Promise.withResolvers<void>()
    const waiting = interruption.wait(promise).catch((error: unknown) => error)
    interruption.interrupt(new Error('Stop'))
    reject(new Error('Late'))
    const next = interruption.wait(Promise.reject(new Error('Later'))).catch(() => undefined)
    await Promise.all([waiting, next])
    await new Promise(setImmediate)
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})
