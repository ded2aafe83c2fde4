import { describe, expect, it } from 'vitest'

import { FairQueue } from './fair-queue.ts'

/** Takes everything from a queue. */
function drain(queue: FairQueue<string>): readonly string[] {
  const items: string[] = []
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item)
  return items
}

describe('FairQueue', () => {
  it('[RUNS-FL1] FairQueue lets keys take turns, regardless of how much each has in the queue', () => {
    const queue = new FairQueue<string>()
    const connection = {}
    for (const item of ['a1', 'a2', 'a3', 'a4']) queue.push({ key: 'a', connection }, item)
    queue.push({ key: 'b', connection: {} }, 'b1')
    queue.push({ key: 'c', connection: {} }, 'c1')
    expect(queue.size).toBe(6)
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'a3', 'a4'])
    expect(queue.size).toBe(0)
  })

  it('[RUNS-FL1] FairQueue lets the connections of a key take turns, each in the order of its items', () => {
    const queue = new FairQueue<string>()
    const [first, second] = [{}, {}]
    for (const item of ['1', '2', '3']) queue.push({ key: 'a', connection: first }, item)
    for (const item of ['x', 'y']) queue.push({ key: 'a', connection: second }, item)
    expect(drain(queue)).toEqual(['1', 'x', '2', 'y', '3'])
  })

  it('[RUNS-FL1] FairQueue skips keys that may not have anything, and keeps their place', () => {
    const queue = new FairQueue<string>()
    queue.push({ key: 'a', connection: {} }, 'a1')
    queue.push({ key: 'b', connection: {} }, 'b1')
    queue.push({ key: 'b', connection: {} }, 'b2')
    expect(queue.shift((key) => key !== 'a')).toBe('b1')
    expect(queue.shift(() => false)).toBeUndefined()
    expect(drain(queue)).toEqual(['a1', 'b2'])
  })

  it('[RUNS-FL1] FairQueue puts a key that returns behind the others', () => {
    const queue = new FairQueue<string>()
    const [a, b] = [
      { key: 'a', connection: {} },
      { key: 'b', connection: {} },
    ]
    queue.push(a, 'a1')
    queue.push(b, 'b1')
    queue.push(b, 'b2')
    expect(queue.shift()).toBe('a1')
    queue.push(a, 'a2')
    expect(drain(queue)).toEqual(['b1', 'a2', 'b2'])
    expect(queue.shift()).toBeUndefined()
  })
})
