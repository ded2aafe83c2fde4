import { describe, expect, it } from 'vitest'

import {
  toParentPointer,
  isWithin,
  parsePointer,
  toChildPointer,
  getValueAt,
  removeValueAt,
  setValueAt,
} from './pointer.ts'

const value = { a: [1, { 'b/c': 2 }], 'x~y': null }

describe('pointers', () => {
  it('JSON pointers encode any key, and decode it again', () => {
    for (const key of ['a', 'b/c', 'x~y', '', '~1', '0']) {
      const path = toChildPointer(toChildPointer('', 'in'), key)
      expect(parsePointer(path)).toEqual(['in', key])
      expect(toParentPointer(path)).toBe('/in')
    }
    expect(toParentPointer('')).toBeUndefined()
  })

  it('JSON pointers are inside a place only at a key boundary', () => {
    expect(isWithin('/a/b', '/a')).toBe(true)
    expect(isWithin('/a', '')).toBe(true)
    expect(isWithin('/ab', '/a')).toBe(false)
  })
})

describe('values by pointer', () => {
  it('Values by pointer are read, without inherited properties', () => {
    expect(getValueAt(value, '/a/1/b~1c')).toBe(2)
    expect(getValueAt(value, '/x~0y')).toBeNull()
    expect(getValueAt(value, '')).toBe(value)
    expect(getValueAt(value, '/a/5')).toBeUndefined()
    expect(getValueAt({}, '/toString')).toBeUndefined()
  })

  it('Values by pointer are set without changing the old value', () => {
    const before = structuredClone(value)
    expect(setValueAt(value, '/a/1/b~1c', 3)).toEqual({ ...value, a: [1, { 'b/c': 3 }] })
    expect(setValueAt(value, '/a/2', 9)).toEqual({ ...value, a: [...value.a, 9] })
    expect(setValueAt(undefined, '/new/deep', 1)).toEqual({ new: { deep: 1 } })
    expect(Object.keys(setValueAt({}, '/__proto__', 1) as object)).toEqual(['__proto__'])
    expect(value).toEqual(before)
  })

  it('Values by pointer keep the order of fields', () => {
    expect(Object.keys(setValueAt({ b: 1, a: 2 }, '/b', 3) as object)).toEqual(['b', 'a'])
  })

  it('Values by pointer are removed: fields from objects, items from lists', () => {
    expect(removeValueAt(value, '/a/0')).toEqual({ ...value, a: [{ 'b/c': 2 }] })
    expect(removeValueAt(value, '/x~0y')).toEqual({ a: value.a })
    expect(removeValueAt(value, '')).toBeUndefined()
  })
})
