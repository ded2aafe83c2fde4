/** Tests of the search for texts that begin another text. */
import { expect, it } from 'vitest'

import { PrefixIndex } from './prefix-index.ts'

function createIndex(...texts: readonly string[]): PrefixIndex<string> {
  return new PrefixIndex(texts.map((text) => [text, text]))
}

it('A prefix index finds all texts that begin another one, the longest first', () => {
  const index = createIndex('a/', 'a!', 'a/b/', 'a/b!', 'b/', 'a/b/c/d/')
  expect([...index.find('a/b/c')]).toEqual(['a/b/', 'a/'])
  expect([...index.find('a/')]).toEqual(['a/'])
  expect([...index.find('a/b/c/d/e')]).toEqual(['a/b/c/d/', 'a/b/', 'a/'])
})

it('A prefix index finds nothing for a text that none of its texts begins', () => {
  const index = createIndex('a/', 'c/')
  expect(['a', 'b/x', 'd', ''].flatMap((text) => [...index.find(text)])).toEqual([])
})

it('A prefix index has the value of the first of equal texts', () => {
  const index = new PrefixIndex([
    ['a/', 1],
    ['a/', 2],
  ])
  expect([...index.find('a/x')]).toEqual([1])
})
