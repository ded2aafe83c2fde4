import { expect, it } from 'vitest'

import { searchTextOf, toSearched } from './search-text.ts'

it('every form of a letter is the same, and what no database can hold is replaced', () => {
  for (const text of ['Straße', 'STRASSE', 'strasse']) expect(toSearched(text)).toBe('STRASSE')
  for (const text of ['σοφός', 'ΣΟΦΌΣ', 'σοφόσ']) expect(toSearched(text)).toBe('ΣΟΦΌΣ')
  expect(toSearched('a\0b\u0001c\ud800d\udc00e🎻')).toBe('A\ufffdB\ufffdC\ufffdD\ufffdE🎻')
})

it('nothing is found over the end of a value', () => {
  const text = searchTextOf({ tags: { a: 'one', b: 'two' }, inputs: { c: 'three\u0001' } })
  expect(text).toBe('ONE\u0001TWO\u0001THREE\ufffd')
  expect(text).not.toContain(toSearched('one\u0001two'))
  expect(searchTextOf({ tags: {}, inputs: {} })).toBe('')
})
