import { createHash } from 'node:crypto'

import { expect, it } from 'vitest'

import { inputHash, sortedJson } from './input-hash.ts'

it('is the SHA-256 of the compact JSON with keys in order', async () => {
  const value = { b: [{ d: 1, c: 'ü' }], a: null }
  expect(sortedJson(value)).toBe('{"a":null,"b":[{"c":"ü","d":1}]}')
  const expected = createHash('sha256').update(sortedJson(value)).digest('hex')
  expect(await inputHash({ a: null, b: [{ c: 'ü', d: 1 }] })).toBe(expected)
})

it('takes a value without JSON as nothing', () => {
  expect(sortedJson(undefined)).toBe('null')
})
