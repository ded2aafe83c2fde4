import { describe, expect, it } from 'vitest'
import { PREVIEW_LENGTH, previewOf, receivedOf } from './preview.ts'

describe('previewOf', () => {
  it.each([
    ['a "b"', '"a \\"b\\""'],
    [42, '42'],
    [Number.NaN, 'NaN'],
    [null, 'null'],
    [undefined, 'undefined'],
    [5n, '5n'],
    [[1, 'a', null], '[1,"a",null]'],
    [{ a: 1, b: { c: [] } }, '{"a":1,"b":{"c":[]}}'],
    [{ a: { b: { c: { d: 1 } } } }, '{"a":{"b":{"c":{…}}}}'],
    [[[[[1]]]], '[[[[…]]]]'],
  ])('shows %o as %s', (value, text) => {
    expect(previewOf(value)).toBe(text)
  })

  it('cuts long values and says so', () => {
    for (const value of ['x'.repeat(1e6), Array(1e6).fill(1), { ['k'.repeat(1e6)]: 1 }]) {
      expect(previewOf(value)).toHaveLength(PREVIEW_LENGTH)
      expect(previewOf(value)).toMatch(/…$/)
    }
  })

  it('ends on a cyclic value', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    expect(previewOf(cyclic)).toBe('{"self":{"self":{"self":{…}}}}')
  })

  it('leaves inherited fields out', () => {
    expect(previewOf(Object.create({ a: 1 }))).toBe('{}')
  })
})

describe('receivedOf', () => {
  it('keeps plain values', () => {
    expect([null, true, 1.5, 'a'].map(receivedOf)).toEqual([null, true, 1.5, 'a'])
  })

  it('gives text for everything that JSON could not carry or that is large', () => {
    expect(receivedOf(Number.POSITIVE_INFINITY)).toBe('Infinity')
    expect(receivedOf(undefined)).toBe('undefined')
    expect(receivedOf({ a: 1 })).toBe('{"a":1}')
  })

  it('never cuts a character in half', () => {
    for (const padding of [0, 1]) {
      const text = String(receivedOf('x'.repeat(padding) + '😀'.repeat(200)))
      expect(text.isWellFormed()).toBe(true)
      expect(text.length).toBeLessThanOrEqual(PREVIEW_LENGTH)
    }
  })
})
