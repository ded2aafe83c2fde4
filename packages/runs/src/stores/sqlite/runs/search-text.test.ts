import { expect, it } from 'vitest'

import { toSearchTerm, toStoredText } from './search-text.ts'

it('A stored text contains the needles of the start of its id and of parts of its values only', () => {
  const text = toStoredText({ runId: 'Run-1_9', tags: { by: 'ci' }, inputs: { topic: 'Run wild' } })
  const matches = (term: string): readonly boolean[] =>
    (toSearchTerm(term)?.needles ?? []).map((needle) => text.includes(needle))
  expect(matches('run')).toEqual([true, true])
  expect(matches('RUN-1_9')).toEqual([false, true])
  expect(matches('un-1')).toEqual([false, false])
  expect(matches('1')).toEqual([false, false])
  expect(matches('n w')).toEqual([true])
  expect(matches('ci')).toEqual([true, false])
})

it('A term is a query of phrases from three characters on, and ranges of trigrams below', () => {
  expect(toSearchTerm('')).toBeUndefined()
  expect(toSearchTerm('a"b')).toEqual({ needles: ['A"B'], query: '"A""B"', ranges: [] })
  expect(toSearchTerm('abc')?.query).toBe('"ABC" OR "\u0001abc"')
  expect(toSearchTerm('🎻!')).toEqual({
    needles: ['🎻!'],
    ranges: [['🎻!', '🎻!\u{10ffff}\u{10ffff}']],
  })
})
