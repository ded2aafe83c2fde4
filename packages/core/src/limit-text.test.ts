import { describe, expect, it } from 'vitest'

import { limitText, startOfInput, sliceWholeCharacters } from './limit-text.ts'

describe('limitText', () => {
  it.each([
    ['keeps a shorter text', 'abc', 4, 'abc'],
    ['keeps a text of exactly the limit', 'abc', 3, 'abc'],
    ['truncates a longer text with a note', 'abcdef', 3, 'abc\n[truncated: 6 characters in full]'],
    ['keeps only the note with a limit of 0', 'abc', 0, '\n[truncated: 3 characters in full]'],
    ['keeps an empty text with a limit of 0', '', 0, ''],
    ['treats a negative limit as no limit', 'abc', -1, 'abc'],
    ['does not split a surrogate pair', 'a😀b', 2, 'a\n[truncated: 4 characters in full]'],
    [
      'truncates directly after a surrogate pair',
      'a😀b',
      3,
      'a😀\n[truncated: 4 characters in full]',
    ],
  ])('limitText %s', (_rule, text, limit, expected) => {
    expect(limitText(text, limit)).toBe(expected)
  })
})

describe('sliceWholeCharacters', () => {
  it('sliceWholeCharacters never ends within a surrogate pair', () => {
    const text = '🎷a🎺🥁b🎻'
    for (let length = 0; length <= text.length; length += 1) {
      const cut = sliceWholeCharacters(text, length)
      expect(cut.isWellFormed()).toBe(true)
      expect(text.startsWith(cut)).toBe(true)
      expect(length - cut.length).toBeLessThanOrEqual(1)
    }
  })

  it('sliceWholeCharacters returns the whole text when it is not longer', () => {
    expect(sliceWholeCharacters('abc', 10)).toBe('abc')
  })
})

describe('startOfInput', () => {
  it('startOfInput shows text unchanged, and other values as JSON', () => {
    expect(startOfInput('2 + 3')).toBe('2 + 3')
    expect(startOfInput({ a: [1] })).toBe('{"a":[1]}')
    expect(startOfInput(undefined)).toBe('')
  })

  it('startOfInput shows 200 characters of a long text, never half of a character', () => {
    expect(startOfInput('x'.repeat(200))).toBe('x'.repeat(200))
    expect(startOfInput('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`)
    expect(startOfInput(`${'x'.repeat(199)}🎵🎵`)).toBe(`${'x'.repeat(199)}…`)
  })
})
