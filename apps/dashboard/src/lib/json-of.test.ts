/** Values in texts. */
import { expect, it } from 'vitest'

import { jsonOf } from './json-of.ts'

it('is the object or the list that a text is the JSON of', () => {
  expect(jsonOf(' {"a": 1}')).toEqual({ a: 1 })
  expect(jsonOf('[1]')).toEqual([1])
})

it.each(['[a link](https://example.com)', '{not json', '12', 'null', '"a"', ''])(
  'is nothing for %j',
  (text) => {
    expect(jsonOf(text)).toBeUndefined()
  },
)
