import { expect, it } from 'vitest'

import { KeptChunks, MAX_KEPT_LENGTH } from './kept-chunks.ts'

it('keeps the newest chunks, as many as fit, and counts all', () => {
  const chunks = new KeptChunks()
  const big = 'x'.repeat(MAX_KEPT_LENGTH / 2)
  for (const chunk of ['first', big, { n: 1 }, big]) chunks.add(chunk)
  expect(chunks.all).toEqual([{ n: 1 }, big])
  expect(chunks.count).toBe(4)
})

it('keeps the newest one however long it is, and what has no JSON', () => {
  const chunks = new KeptChunks()
  chunks.add('a')
  chunks.add(undefined)
  chunks.add(10n)
  expect(chunks.all).toEqual(['a', undefined, 10n])
  const huge = 'x'.repeat(MAX_KEPT_LENGTH + 1)
  chunks.add(huge)
  expect(chunks.all).toEqual([huge])
})
