import { expect, it } from 'vitest'

import { toSearchText, normalizeForSearch } from './search-text.ts'

it('The search text matches every form of a letter, and replaces characters that a database cannot store', () => {
  for (const text of ['Straße', 'STRASSE', 'strasse'])
    expect(normalizeForSearch(text)).toBe('STRASSE')
  for (const text of ['σοφός', 'ΣΟΦΌΣ', 'σοφόσ']) expect(normalizeForSearch(text)).toBe('ΣΟΦΌΣ')
  expect(normalizeForSearch('a\0b\u0001c\ud800d\udc00e🎻')).toBe('A\ufffdB\ufffdC\ufffdD\ufffdE🎻')
})

it('The search text has no match across two values', () => {
  const text = toSearchText({ tags: { a: 'one', b: 'two' }, inputs: { c: 'three\u0001' } })
  expect(text).toBe('ONE\u0001TWO\u0001THREE\ufffd')
  expect(text).not.toContain(normalizeForSearch('one\u0001two'))
  expect(toSearchText({ tags: {}, inputs: {} })).toBe('')
})
