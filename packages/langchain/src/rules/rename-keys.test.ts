import { expect, test } from 'vitest'

import { processorTimer } from '../../../../tooling/test-kit/processor-time.ts'

import { renameKeys } from './rename-keys.ts'

const NAMES = new Map([
  ['$top', 'top_1'],
  ['filter[name]', 'filter_1'],
  ['a"b', 'ab_1'],
  ['größe', 'gr_1'],
])

test.each([
  ['a key', '{"$top":1}', '{"top_1":1}'],
  ['keys at any depth', '{"a":[{"filter[name]":{"$top":1}}]}', '{"a":[{"filter_1":{"top_1":1}}]}'],
  ['a key before whitespace and a colon', '{ "$top" \n: 1 }', '{ "top_1" \n: 1 }'],
  ['a key with escapes', '{"\\u0024top":1,"a\\"b":2}', '{"top_1":1,"ab_1":2}'],
  ['a key beyond ASCII', '{"größe":1}', '{"gr_1":1}'],
  ['a key of text that is cut', '{"$top":1,"q":"cut', '{"top_1":1,"q":"cut'],
  ['a key of text that ends within an escape', '{"$top":"a\\', '{"top_1":"a\\'],
])('The renaming of keys renames %s', (_, json, renamed) => {
  expect(renameKeys(json, NAMES)).toBe(renamed)
})

test.each([
  ['a value', '{"a":"$top"}'],
  ['text within a value', String.raw`{"a":"\"$top\":1"}`],
  ['the digits of a number', '{"id":725653563933458432,"x":1.0e400}'],
  ['other keys', '{"top":1,"__proto__":2}'],
  ['text that is not JSON', 'no $top: here'],
  ['nothing', ''],
])('The renaming of keys does not change %s', (_, json) => {
  expect(renameKeys(json, NAMES)).toBe(json)
})

test('The renaming of keys takes linear time for text with many escaped quotes and no end', () => {
  const json = `{"$top":"${String.raw`\"`.repeat(500_000)}`
  const processorMs = processorTimer()
  expect(renameKeys(json, NAMES).slice(0, 9)).toBe('{"top_1":')
  expect(processorMs()).toBeLessThan(2_000)
})
