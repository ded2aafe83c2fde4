import { expect, it } from 'vitest'

import { readTurn } from './read-turns.ts'

it('gives one reader a turn in each pass of the event loop, in order', async () => {
  const order: string[] = []
  const readers = ['a', 'b', 'c'].map(async (name) => {
    await readTurn()
    order.push(name)
  })
  const passes = (async () => {
    for (let pass = 1; pass <= 3; pass += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`pass ${pass}`)
    }
  })()
  await Promise.all([...readers, passes])
  expect(order).toEqual(['a', 'pass 1', 'b', 'pass 2', 'c', 'pass 3'])
})
