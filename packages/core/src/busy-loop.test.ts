import { setImmediate as nextPass } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../../tooling/test-kit/clock.ts'
import { BusyLoop } from './busy-loop.ts'

describe('BusyLoop', () => {
  it('BusyLoop pauses after 10 ms, for one pass of the event loop', async () => {
    const clock = fakeClock()
    const loop = new BusyLoop(clock)
    clock.block(9)
    expect(loop.pause()).toBeUndefined()
    clock.block(1)
    const order: string[] = []
    const other = nextPass().then(() => order.push('other work'))
    await loop.pause()
    order.push('loop')
    await other
    expect(order).toEqual(['other work', 'loop'])
  })

  it('BusyLoop counts from the end of its last pause', async () => {
    const clock = fakeClock()
    const loop = new BusyLoop(clock)
    clock.block(10)
    const pausing = loop.pause()
    clock.block(50)
    await pausing
    expect(loop.pause()).toBeUndefined()
    clock.block(10)
    expect(loop.pause()).toBeDefined()
  })
})
