import { describe, expect, it } from 'vitest'

import { fromColumn, toTagIndex, toColumn, toIndex } from './text.ts'

const ODD =
  'nul \u0000 lone \ud800 low \udc00 pair \ud83c\udfbb "quoted" \\u0000 back\\slash \n\t é'

describe('texts in columns', () => {
  it('a text comes back as it was, whatever it holds', () => {
    expect(fromColumn(toColumn(ODD))).toBe(ODD)
    expect(fromColumn(toColumn(''))).toBe('')
  })

  it('a column holds neither NUL nor half a surrogate pair', () => {
    const column = toColumn(ODD)
    expect(column.isWellFormed()).toBe(true)
    expect(column).not.toContain('\0')
  })

  it('two texts are never the same column', () => {
    expect(toColumn('\0')).not.toBe(toColumn('\\u0000'))
    expect(toColumn('\ud800')).not.toBe(toColumn('\ud801'))
  })

  it('an ordinary text is its own column', () => {
    expect(toColumn('run-a é 🎻')).toBe('run-a é 🎻')
  })
})

describe('texts in an index', () => {
  it('a long one is told from others by its hash', () => {
    const long = 'x'.repeat(10_000)
    expect(toIndex(long)).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(toIndex(long)).not.toBe(toIndex(`${long}y`))
    expect(toIndex('x'.repeat(500))).toBe('x'.repeat(500))
  })

  it('a tag is not confused with the name of another', () => {
    expect(toTagIndex('a', 'b')).not.toBe(toTagIndex('a"="b'))
    expect(toTagIndex('a', '')).not.toBe(toTagIndex('a'))
  })
})
