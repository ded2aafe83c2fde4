import { setImmediate as nextPass } from 'node:timers/promises'
import { expect, it } from 'vitest'

import { BusyLoop } from './busy-loop.ts'

it('BusyLoop pauses at every 1,000th value, for one pass of the event loop', async () => {
  const loop = new BusyLoop()
  for (let round = 0; round < 2; round += 1) {
    for (let value = 1; value < 1_000; value += 1) expect(loop.pause()).toBeUndefined()
    const order: string[] = []
    const other = nextPass().then(() => order.push('other work'))
    await loop.pause()
    order.push('loop')
    await other
    expect(order).toEqual(['other work', 'loop'])
  }
})
