import { expect, test } from 'vitest'

import { isWellFormedValue, toWellFormedJson, toWellFormedValue } from './well-formed.ts'

test.each([
  ['a lone high surrogate', '"a\ud800b"', '"a\ufffdb"'],
  ['an escaped lone high surrogate', String.raw`"a\ud800b"`, '"a\ufffdb"'],
  ['an escaped lone low surrogate', String.raw`"\uDC00"`, '"\ufffd"'],
  ['surrogates in the wrong order', String.raw`"\udc00\ud83d"`, '"\ufffd\ufffd"'],
  [
    'a lone surrogate after an escaped backslash',
    String.raw`"\\\ud800"`,
    `${String.raw`"\\`}\ufffd"`,
  ],
])('The replacement of lone surrogates changes %s in JSON', (_, json, fixed) => {
  const text = toWellFormedJson(json)
  expect(text).toBe(fixed)
  expect(String(JSON.parse(text)).isWellFormed()).toBe(true)
})

test.each([
  String.raw`"\ud83d\ude00"`,
  '"😀"',
  String.raw`"\\ud800"`,
  String.raw`"\u0041\n"`,
  '{"id":725653563933458432}',
  'not JSON \\',
  '',
])('The replacement of lone surrogates does not change %s', (json) => {
  expect(toWellFormedJson(json)).toBe(json)
})

test('The replacement of lone surrogates applies to values and names of properties', () => {
  const value = { 'a\ud800': ['b\udc00', { c: '😀' }] }
  expect(isWellFormedValue(value)).toBe(false)
  expect(toWellFormedValue(value)).toEqual({ 'a\ufffd': ['b\ufffd', { c: '😀' }] })
})

test('The replacement of lone surrogates returns a well-formed value itself', () => {
  const value = { a: ['b', 1, null, { c: '😀' }] }
  expect(toWellFormedValue(value)).toBe(value)
})
