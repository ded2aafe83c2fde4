import { describe, expect, it } from 'vitest'

import { EventBus } from './event-bus.ts'
import { token } from '../testing/index.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const EVENT: LoggedRunEvent = { ...token('x'), runId: 'run-a', seq: 0, id: 'run-a:0' }

describe('EventBus', () => {
  it('EventBus calls the listeners of a run and those of all runs, and no others', () => {
    const { bus, published, listener } = setUp()
    bus.listen('run-a', listener('a'))
    bus.listen('run-a', listener('a too'))
    bus.listen('run-b', listener('b'))
    bus.listenToAll(listener('all'))
    bus.publish('run-a', [EVENT])
    expect(published).toEqual([
      ['a', 1],
      ['a too', 1],
      ['all', 1],
    ])
  })

  it('EventBus does not call removed listeners', () => {
    const { bus, published, listener } = setUp()
    const stops = [bus.listen('run-a', listener('a')), bus.listenToAll(listener('all'))]
    bus.listen('run-a', listener('stays'))
    for (const stop of stops) stop()
    bus.publish('run-a', [EVENT])
    expect(published).toEqual([['stays', 1]])
  })

  it('EventBus knows which runs have listeners', () => {
    const { bus, listener } = setUp()
    const stop = bus.listen('run-a', listener('a'))
    expect([bus.hasListeners('run-a'), bus.hasListeners('run-b')]).toEqual([true, false])
    expect(bus.runIds).toEqual(['run-a'])
    const stopAll = bus.listenToAll(listener('all'))
    expect(bus.hasListeners('run-b')).toBe(true)
    expect(bus.runIds).toEqual(['run-a'])
    stop()
    stopAll()
    expect([bus.hasListeners('run-a'), bus.runIds]).toEqual([false, []])
  })

  it('EventBus forgets a run only when its last listener is removed, even if a removal is repeated', () => {
    const { bus, listener } = setUp()
    const stop = bus.listen('run-a', listener('a'))
    stop()
    bus.listen('run-a', listener('another'))
    stop()
    expect(bus.hasListeners('run-a')).toBe(true)
  })

  it('EventBus calls only the listeners of the run with an empty list on a nudge', () => {
    const { bus, published, listener } = setUp()
    bus.listen('run-a', listener('a'))
    bus.listen('run-b', listener('b'))
    bus.listenToAll(listener('all'))
    bus.nudge('run-a')
    bus.nudge('run-z')
    expect(published).toEqual([['a', 0]])
  })

  it('EventBus isolates the errors of listeners', () => {
    const { bus, published, errors, listener } = setUp()
    const bad = new Error('bad listener')
    const broken = (): never => {
      throw bad
    }
    bus.listen('run-a', broken)
    bus.listen('run-a', listener('a'))
    bus.listenToAll(listener('all'))
    bus.publish('run-a', [EVENT])
    bus.nudge('run-a')
    expect(published.map(([who]) => who)).toEqual(['a', 'all', 'a'])
    expect(errors).toEqual([bad, bad])
  })

  it('EventBus allows listeners to be added and removed during a call', () => {
    const { bus, published, listener } = setUp()
    const stop = bus.listen('run-a', () => {
      stop()
      bus.listen('run-a', listener('new'))
    })
    bus.listen('run-a', listener('a'))
    bus.publish('run-a', [EVENT])
    expect(published).toEqual([['a', 1]])
    bus.publish('run-a', [EVENT])
    expect(published.slice(1)).toEqual([
      ['a', 1],
      ['new', 1],
    ])
  })
})

function setUp() {
  const published: (readonly [who: string, events: number])[] = []
  const errors: unknown[] = []
  const bus = new EventBus((error) => errors.push(error))
  const listener = (who: string) => (events: readonly LoggedRunEvent[]) => {
    published.push([who, events.length])
  }
  return { bus, published, errors, listener }
}
