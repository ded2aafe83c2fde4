import { describe, expect, it } from 'vitest'

import { newId } from './new-id.ts'

const FIRST = Date.UTC(2020)
const LAST = Date.UTC(2109)

describe('newId', () => {
  it('newId has a length that never changes', () => {
    for (const nowMs of [FIRST, 1_795_801_435_791.307, LAST]) {
      expect(newId('thread', nowMs)).toMatch(/^thread-[0-9a-z]{16}$/)
    }
    expect(newId('run')).toMatch(/^run-[0-9a-z]{16}$/)
  })

  it('newId is greater at a later time', () => {
    const times = [FIRST, FIRST + 35, FIRST + 36, 1_795_801_435_791, 1_795_801_435_792, LAST]
    const ids = times.map((nowMs) => newId('run', nowMs))
    expect(ids.toSorted()).toEqual(ids)
  })

  it('newId differs at the same time', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId('run', FIRST))).size).toBe(10_000)
  })
})
