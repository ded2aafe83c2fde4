import { describe, expect, it } from 'vitest'
import { pointer, valueAt } from './json-pointer.ts'

describe('pointer and valueAt', () => {
  it.each(['a', 'a/b', '~', '~1', '', ' ', '0', 'é\n'])(
    '`pointer` and valueAt lead to the field %j and back',
    (key) => {
      expect(valueAt({ [key]: { inner: 1 } }, pointer(pointer('', key), 'inner'))).toBe(1)
    },
  )

  it('`pointer` and valueAt escape as in RFC 6901', () => {
    expect(pointer('/inputs', 'a/b~c')).toBe('/inputs/a~1b~0c')
    expect(pointer('', 3)).toBe('/3')
  })

  it('`pointer` and valueAt find the whole value at "" and return undefined for a missing one', () => {
    expect(valueAt(5, '')).toBe(5)
    expect(valueAt({ a: 1 }, '/a/b/c')).toBeUndefined()
    expect(valueAt([1, 2], '/1')).toBe(2)
  })
})
