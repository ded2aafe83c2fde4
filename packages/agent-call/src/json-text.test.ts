import { createHash } from 'node:crypto'

import { expect, it } from 'vitest'

import { hashInput, sortedJson } from './json-text.ts'

it('The digest of a value hashes its compact JSON with sorted keys', async () => {
  const value = { b: [{ d: 1, c: 'ü' }], a: null }
  expect(sortedJson(value)).toBe('{"a":null,"b":[{"c":"ü","d":1}]}')
  const expected = createHash('sha256').update(sortedJson(value)).digest('hex')
  expect(await hashInput({ a: null, b: [{ c: 'ü', d: 1 }] })).toBe(expected)
})

it('The JSON text of a value without JSON is null', () => {
  expect(sortedJson(undefined)).toBe('null')
})

it('The JSON text of a value sorts keys by code points, also those that look like numbers', () => {
  const value = { '9': 1, '10': 2, '\u{1F600}': 3, '\uFFFD': 4, ab: 5, a: 6, '': 7 }
  expect(sortedJson(value)).toBe('{"":7,"10":2,"9":1,"a":6,"ab":5,"\uFFFD":4,"\u{1F600}":3}')
})
