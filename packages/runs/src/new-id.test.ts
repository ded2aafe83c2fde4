import { describe, expect, it } from 'vitest'

import { newId } from './new-id.ts'

describe('newId', () => {
  it('has a length that never changes', () => {
    for (const nowMs of [0, 1_795_801_435_791.307, Date.UTC(5000)]) {
      expect(newId('thread', nowMs)).toMatch(/^thread-[0-9a-z]{19}$/)
    }
    expect(newId('run')).toMatch(/^run-[0-9a-z]{19}$/)
  })

  it('is greater at a later time', () => {
    const times = [1, 35, 36, 1_000_000, 1_795_801_435_791, 1_795_801_435_792, Date.UTC(5000)]
    const ids = times.map((nowMs) => newId('run', nowMs))
    expect(ids.toSorted()).toEqual(ids)
  })

  it('differs at the same time', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId('run', 0))).size).toBe(10_000)
  })
})
