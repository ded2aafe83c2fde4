import { describe, expect, it } from 'vitest'

import { limitText, wholeCharacters } from './limit-text.ts'

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
      const cut = wholeCharacters(text, length)
      expect(cut.isWellFormed()).toBe(true)
      expect(text.startsWith(cut)).toBe(true)
      expect(length - cut.length).toBeLessThanOrEqual(1)
    }
  })

  it('is the whole text when it is not longer', () => {
    expect(wholeCharacters('abc', 10)).toBe('abc')
  })
})
