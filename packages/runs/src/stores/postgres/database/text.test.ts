import { describe, expect, it } from 'vitest'

import { toTagIndex } from '../../shared/schema/tag-index.ts'
import { fromColumn, toArrayText, toColumn, toIndex } from './text.ts'

const ODD =
  'nul \u0000 lone \ud800 low \udc00 pair \ud83c\udfbb "quoted" \\u0000 back\\slash \n\t é'

describe('column texts', () => {
  it('Any text is read unchanged', () => {
    expect(fromColumn(toColumn(ODD))).toBe(ODD)
    expect(fromColumn(toColumn(''))).toBe('')
  })

  it('A column contains neither NUL nor half of a surrogate pair', () => {
    const column = toColumn(ODD)
    expect(column.isWellFormed()).toBe(true)
    expect(column).not.toContain('\0')
  })

  it('Different texts have different columns', () => {
    expect(toColumn('\0')).not.toBe(toColumn('\\u0000'))
    expect(toColumn('\ud800')).not.toBe(toColumn('\ud801'))
  })

  it('An ordinary text equals its column', () => {
    expect(toColumn('run-a é 🎻')).toBe('run-a é 🎻')
  })
})

describe('index texts', () => {
  it('A long text is replaced by its hash', () => {
    const long = 'x'.repeat(10_000)
    expect(toIndex(long)).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(toIndex(long)).not.toBe(toIndex(`${long}y`))
    expect(toIndex('x'.repeat(500))).toBe('x'.repeat(500))
  })

  it('A tag with a value differs from a tag with that name', () => {
    expect(toTagIndex('a', 'b')).not.toBe(toTagIndex('a"="b'))
    expect(toTagIndex('a', '')).not.toBe(toTagIndex('a'))
  })
})

it('The text of an array quotes texts and leaves numbers as they are', () => {
  expect(toArrayText(['a', 'b "c" \\ {d}, NULL', ''])).toBe(
    String.raw`{"a","b \"c\" \\ {d}, NULL",""}`,
  )
  expect(toArrayText([1, -2])).toBe('{1,-2}')
  expect(toArrayText([])).toBe('{}')
})
