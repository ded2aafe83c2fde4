import { describe, expect, it } from 'vitest'

import {
  above,
  isWithin,
  keysOf,
  childPointer,
  valueAtPointer,
  withoutValueAt,
  withValueAt,
} from './pointer.ts'

const value = { a: [1, { 'b/c': 2 }], 'x~y': null }

describe('pointers', () => {
  it('name any key, and give it back', () => {
    for (const key of ['a', 'b/c', 'x~y', '', '~1', '0']) {
      const path = childPointer(childPointer('', 'in'), key)
      expect(keysOf(path)).toEqual(['in', key])
      expect(above(path)).toBe('/in')
    }
    expect(above('')).toBeUndefined()
  })

  it('are within a place, and not within one whose name begins alike', () => {
    expect(isWithin('/a/b', '/a')).toBe(true)
    expect(isWithin('/a', '')).toBe(true)
    expect(isWithin('/ab', '/a')).toBe(false)
  })
})

describe('values by pointers', () => {
  it('are read; what is inherited is not there', () => {
    expect(valueAtPointer(value, '/a/1/b~1c')).toBe(2)
    expect(valueAtPointer(value, '/x~0y')).toBeNull()
    expect(valueAtPointer(value, '')).toBe(value)
    expect(valueAtPointer(value, '/a/5')).toBeUndefined()
    expect(valueAtPointer({}, '/toString')).toBeUndefined()
  })

  it('are set without a change of the old value', () => {
    const before = structuredClone(value)
    expect(withValueAt(value, '/a/1/b~1c', 3)).toEqual({ ...value, a: [1, { 'b/c': 3 }] })
    expect(withValueAt(value, '/a/2', 9)).toEqual({ ...value, a: [...value.a, 9] })
    expect(withValueAt(undefined, '/new/deep', 1)).toEqual({ new: { deep: 1 } })
    expect(Object.keys(withValueAt({}, '/__proto__', 1) as object)).toEqual(['__proto__'])
    expect(value).toEqual(before)
  })

  it('keep their order', () => {
    expect(Object.keys(withValueAt({ b: 1, a: 2 }, '/b', 3) as object)).toEqual(['b', 'a'])
  })

  it('are taken away: a field from an object, an item out of a list', () => {
    expect(withoutValueAt(value, '/a/0')).toEqual({ ...value, a: [{ 'b/c': 2 }] })
    expect(withoutValueAt(value, '/x~0y')).toEqual({ a: value.a })
    expect(withoutValueAt(value, '')).toBeUndefined()
  })
})
