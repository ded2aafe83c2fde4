import { expect, it } from 'vitest'

import { jsonFault } from './json-fault.ts'

it.each([
  [null],
  ['x'],
  [0],
  [false],
  [[1, [null]]],
  [{ a: { b: [{}] }, c: undefined }],
  [Object.assign(Object.create(null), { a: 1 })],
  [JSON.parse('{"__proto__":{"a":1}}')],
])('JSON has no fault: %j', (value) => {
  expect(jsonFault(value)).toBeUndefined()
})

it.each<[unknown, string]>([
  [undefined, 'the value is undefined'],
  [NaN, 'the value is NaN'],
  [{ a: [1, Infinity] }, '/a/1 is Infinity'],
  [[undefined], '/0 is undefined'],
  [{ when: new Date(0) }, '/when is a Date'],
  [{ a: { b: new Map() } }, '/a/b is a Map'],
  [5n, 'the value is a bigint'],
  [{ f: () => 1 }, '/f is a function'],
  [{ u: new URL('http://a') }, '/u is a URL'],
  [
    new (class Report {
      readonly title = 'x'
    })(),
    'the value is an object of a class',
  ],
])('what is not JSON is named with its place (%#)', (value, fault) => {
  expect(jsonFault(value)).toBe(fault)
})

it('a value in itself is a RangeError', () => {
  const value: Record<string, unknown> = {}
  value['self'] = value
  expect(() => jsonFault(value)).toThrow(RangeError)
})
