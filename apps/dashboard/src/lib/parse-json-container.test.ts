import { expect, it } from 'vitest'

import { parseJsonContainer } from './parse-json-container.ts'

it('parseJsonContainer returns the object or array in a text', () => {
  expect(parseJsonContainer(' {"a": 1}')).toEqual({ a: 1 })
  expect(parseJsonContainer('[1]')).toEqual([1])
})

it.each(['[a link](https://example.com)', '{not json', '12', 'null', '"a"', ''])(
  'parseJsonContainer returns undefined for %j',
  (text) => {
    expect(parseJsonContainer(text)).toBeUndefined()
  },
)
