import { expect, it } from 'vitest'

import { BoundedMap } from './bounded-map.ts'

it('BoundedMap forgets the entry that was set longest ago', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.get('a')
  map.set('c', 3)
  expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([undefined, 2, 3, 2])
  map.set('b', 4)
  map.set('d', 5)
  expect([map.get('b'), map.has('c'), map.get('d')]).toEqual([4, false, 5])
})

it('BoundedMap limits the sum of sizes, after replacements and deletions too', () => {
  const map = new BoundedMap<string, string>(10, ({ length }) => length)
  map.set('a', 'xxxx')
  map.set('a', 'xx')
  map.set('b', 'xxxxxxxx')
  expect([map.has('a'), map.has('b')]).toEqual([true, true])
  map.delete('b')
  map.delete('b')
  map.set('c', 'xxxxxxxx')
  expect([map.has('a'), map.has('c')]).toEqual([true, true])
  map.set('d', 'xxx')
  expect([map.has('a'), map.has('c'), map.has('d')]).toEqual([false, false, true])
  map.set('e', 'xxxxxxxxxxx')
  expect(map.size).toBe(0)
})

it('BoundedMap counts undefined values', () => {
  const map = new BoundedMap<string, undefined>(1)
  map.set('a', undefined)
  map.set('a', undefined)
  map.set('b', undefined)
  expect([map.has('a'), map.has('b')]).toEqual([false, true])
})
