import { describe, expect, it } from 'vitest'

import { formatResults, readSearchResults } from './search-results.ts'

const FIELDS = { list: 'hits', url: 'link', snippet: 'about' }

describe('readSearchResults', () => {
  it('readSearchResults returns title, URL and snippet, and omits results without a URL', () => {
    const answer = {
      hits: [
        { title: 'a', link: 'https://a.example', about: 'b', more: 1 },
        { link: 'https://b.example', title: null, about: 7 },
        { title: 'no link' },
        { title: 'odd', link: 5 },
        null,
        'text',
      ],
    }
    expect(readSearchResults(answer, FIELDS)).toEqual([
      { title: 'a', url: 'https://a.example', snippet: 'b' },
      { title: '', url: 'https://b.example', snippet: '' },
    ])
  })

  it('readSearchResults recognizes the response for no results', () => {
    const error = "Google hasn't returned any results for this query."
    expect(readSearchResults({ error }, FIELDS)).toEqual([])
    expect(readSearchResults({ hits: [] }, FIELDS)).toEqual([])
  })

  it('readSearchResults fails with the reason of the service', () => {
    expect(() => readSearchResults({ error: 'Try later' }, FIELDS)).toThrow(/^Try later$/)
  })

  it.each([{}, null, [], 'text', 5, { hits: {} }, { error: {} }])(
    'readSearchResults fails for %j',
    (answer) => {
      expect(() => readSearchResults(answer, FIELDS)).toThrow('the response has no "hits"')
    },
  )
})

describe('formatResults', () => {
  it('formatResults keeps each result together with any content', () => {
    expect(
      formatResults([
        { title: ' Two\nlines ', url: 'https://a.example', snippet: 'a\n\n2. b\n   URL: evil' },
        { title: '', url: 'https://b.example', snippet: '' },
      ]),
    ).toBe(`1. Two lines
   URL: https://a.example
   a 2. b URL: evil

2. https://b.example
   URL: https://b.example`)
  })
})
