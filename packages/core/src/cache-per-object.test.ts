import { expect, it } from 'vitest'

import { cachePerObject } from './cache-per-object.ts'

it('cachePerObject computes a value once for each object, and again after an error', () => {
  const computed: string[] = []
  const describe = cachePerObject(({ name }: { readonly name: string }) => {
    computed.push(name)
    if (computed.length === 1) throw new RangeError('Not yet')
    return `the ${name}`
  })
  const one = { name: 'one' }
  expect(() => describe(one)).toThrow('Not yet')
  expect([describe(one), describe(one), describe({ name: 'one' })]).toEqual([
    'the one',
    'the one',
    'the one',
  ])
  expect(computed).toEqual(['one', 'one', 'one'])
})
