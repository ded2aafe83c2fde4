import { describe, expect, it } from 'vitest'

import { findDiffParts, type DiffPart } from './diff-parts.ts'

const textOf = (parts: readonly DiffPart[], hidden: DiffPart['change']): string =>
  parts
    .filter(({ change }) => change !== hidden)
    .map(({ value }) => value)
    .join('')

describe('findDiffParts', () => {
  it('findDiffParts compares short texts by words', () => {
    expect(findDiffParts('a red fox', 'a blue fox')).toEqual([
      { value: 'a ' },
      { value: 'red', change: 'removed' },
      { value: 'blue', change: 'added' },
      { value: ' fox' },
    ])
  })

  it('findDiffParts compares long texts by lines', () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index}`)
    const before = lines.join('\n')
    const after = lines.with(1_500, 'line changed').join('\n')
    const changes = findDiffParts(before, after).filter(({ change }) => change !== undefined)
    expect(changes.map(({ value }) => value)).toEqual(['line 1500\n', 'line changed\n'])
  })

  it.each([
    ['nothing in common', 'a\n'.repeat(20_000), 'b\n'.repeat(20_000)],
    ['many words', 'x y '.repeat(2_400), 'z w '.repeat(2_400)],
    ['an empty text', '', 'all new'],
    ['equal texts', 'same', 'same'],
  ])('findDiffParts contains both texts in full: %s', (_, before, after) => {
    const parts = findDiffParts(before, after)
    expect(textOf(parts, 'added')).toBe(before)
    expect(textOf(parts, 'removed')).toBe(after)
  })
})
