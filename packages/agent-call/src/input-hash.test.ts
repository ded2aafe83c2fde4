import { createHash } from 'node:crypto'

import { expect, it } from 'vitest'

import { inputHash } from './input-hash.ts'
import { sortedJson } from './sorted-json.ts'

it('is the SHA-256 of the compact JSON with keys in order', async () => {
  const value = { b: [{ d: 1, c: 'ü' }], a: null }
  expect(sortedJson(value)).toBe('{"a":null,"b":[{"c":"ü","d":1}]}')
  const expected = createHash('sha256').update(sortedJson(value)).digest('hex')
  expect(await inputHash({ a: null, b: [{ c: 'ü', d: 1 }] })).toBe(expected)
})

it('takes a value without JSON as nothing', () => {
  expect(sortedJson(undefined)).toBe('null')
})

it('has keys in the order of their code points, whatever they look like', () => {
  const value = { '9': 1, '10': 2, '\u{1F600}': 3, '\uFFFD': 4, ab: 5, a: 6, '': 7 }
  expect(sortedJson(value)).toBe('{"":7,"10":2,"9":1,"a":6,"ab":5,"\uFFFD":4,"\u{1F600}":3}')
})
