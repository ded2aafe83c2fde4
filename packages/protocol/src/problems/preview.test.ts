import { describe, expect, it } from 'vitest'
import { PREVIEW_LENGTH, previewOf, receivedOf } from './preview.ts'

describe('previewOf', () => {
  it.each([
    ['a "b"', '"a \\"b\\""'],
    [42, '42'],
    [Number.NaN, 'NaN'],
    [null, 'null'],
    [undefined, 'undefined'],
    [5n, '5'],
    [[1, 'a', null], '[1,"a",null]'],
    [{ a: 1, b: { c: [] } }, '{"a":1,"b":{"c":[]}}'],
    [{ a: { b: { c: { d: 1 } } } }, '{"a":{"b":{"c":{…}}}}'],
    [[[[[1]]]], '[[[[…]]]]'],
  ])('previewOf shows %o as %s', (value, text) => {
    expect(previewOf(value)).toBe(text)
  })

  it('previewOf truncates long values with an ellipsis', () => {
    for (const value of ['x'.repeat(1e6), Array(1e6).fill(1), { ['k'.repeat(1e6)]: 1 }]) {
      expect(previewOf(value)).toHaveLength(PREVIEW_LENGTH)
      expect(previewOf(value)).toMatch(/…$/)
    }
  })

  it('previewOf terminates for a cyclic value', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    expect(previewOf(cyclic)).toBe('{"self":{"self":{"self":{…}}}}')
  })

  it('previewOf omits inherited fields', () => {
    expect(previewOf(Object.create({ a: 1 }))).toBe('{}')
  })
})

describe('receivedOf', () => {
  it('receivedOf returns plain values unchanged', () => {
    expect([null, true, 1.5, 'a'].map(receivedOf)).toEqual([null, true, 1.5, 'a'])
  })

  it('receivedOf returns text for values that JSON cannot represent or that are large', () => {
    expect(receivedOf(Number.POSITIVE_INFINITY)).toBe('Infinity')
    expect(receivedOf(undefined)).toBe('undefined')
    expect(receivedOf({ a: 1 })).toBe('{"a":1}')
  })

  it('receivedOf never splits a surrogate pair', () => {
    for (const padding of [0, 1]) {
      const text = String(receivedOf('x'.repeat(padding) + '😀'.repeat(200)))
      expect(text.isWellFormed()).toBe(true)
      expect(text.length).toBeLessThanOrEqual(PREVIEW_LENGTH)
    }
  })
})
