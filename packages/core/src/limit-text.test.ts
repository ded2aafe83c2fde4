import { describe, expect, it } from 'vitest'

import { limitText, startOfInput, sliceWholeCharacters } from './limit-text.ts'

describe('limitText', () => {
  it.each([
    ['shorter than the limit stays', 'abc', 4, 'abc'],
    ['of just the limit stays', 'abc', 3, 'abc'],
    ['longer is cut with a note', 'abcdef', 3, 'abc\n[truncated: 6 characters in full]'],
    ['a limit of 0 leaves the note', 'abc', 0, '\n[truncated: 3 characters in full]'],
    ['empty stays, also with a limit of 0', '', 0, ''],
    ['a negative limit is none', 'abc', -1, 'abc'],
    ['never through a surrogate pair', 'a😀b', 2, 'a\n[truncated: 4 characters in full]'],
    ['but right behind one', 'a😀b', 3, 'a😀\n[truncated: 4 characters in full]'],
  ])('%s', (_rule, text, limit, expected) => {
    expect(limitText(text, limit)).toBe(expected)
  })
})

describe('wholeCharacters', () => {
  it('never ends in half of a pair, wherever it is cut', () => {
    const text = '🎷a🎺🥁b🎻'
    for (let length = 0; length <= text.length; length += 1) {
      const cut = sliceWholeCharacters(text, length)
      expect(cut.isWellFormed()).toBe(true)
      expect(text.startsWith(cut)).toBe(true)
      expect(length - cut.length).toBeLessThanOrEqual(1)
    }
  })

  it('is the whole text when it is not longer', () => {
    expect(sliceWholeCharacters('abc', 10)).toBe('abc')
  })
})

describe('startOfInput', () => {
  it('shows text as it is, and anything else as its JSON', () => {
    expect(startOfInput('2 + 3')).toBe('2 + 3')
    expect(startOfInput({ a: [1] })).toBe('{"a":[1]}')
    expect(startOfInput(undefined)).toBe('')
  })

  it('shows 200 characters of a long one, and never half of a character', () => {
    expect(startOfInput('x'.repeat(200))).toBe('x'.repeat(200))
    expect(startOfInput('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`)
    expect(startOfInput(`${'x'.repeat(199)}🎵🎵`)).toBe(`${'x'.repeat(199)}…`)
  })
})
