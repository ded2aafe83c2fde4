import { describe, expect, it } from 'vitest'

import { shortList, shortText } from './short-text.ts'

describe('shortText', () => {
  it('shortText returns a text of the maximum length unchanged, and truncates a longer one', () => {
    expect(shortText('abcde', 5)).toBe('abcde')
    expect(shortText('abcdef', 5)).toBe('abcd…')
  })

  it('shortText does not split a surrogate pair', () => {
    expect(shortText('abc😀def', 5)).toBe('abc…')
  })
})

describe('shortList', () => {
  it('shortList lists up to 30 names and counts the rest', () => {
    const names = Array.from({ length: 32 }, (_, index) => `n${index}`)
    expect(shortList(names.slice(0, 30))).toBe(names.slice(0, 30).join(', '))
    expect(shortList(names)).toBe(`${names.slice(0, 30).join(', ')} and 2 more`)
  })

  it('shortList truncates long names', () => {
    expect(shortList(['x'.repeat(1_000)])).toHaveLength(100)
  })
})
