import { expect, it } from 'vitest'

import { ChunkBuffer, MAX_BUFFERED_LENGTH } from './chunk-buffer.ts'

it('The chunk buffer keeps the newest chunks up to the limit, and counts all chunks', () => {
  const chunks = new ChunkBuffer()
  const big = 'x'.repeat(MAX_BUFFERED_LENGTH / 2)
  for (const chunk of ['first', big, { n: 1 }, big]) chunks.add(chunk)
  expect(chunks.all).toEqual([{ n: 1 }, big])
  expect(chunks.count).toBe(4)
})

it('The chunk buffer keeps the newest chunk of any length, and values without JSON', () => {
  const chunks = new ChunkBuffer()
  chunks.add('a')
  chunks.add(undefined)
  chunks.add(10n)
  expect(chunks.all).toEqual(['a', undefined, 10n])
  const huge = 'x'.repeat(MAX_BUFFERED_LENGTH + 1)
  chunks.add(huge)
  expect(chunks.all).toEqual([huge])
})
