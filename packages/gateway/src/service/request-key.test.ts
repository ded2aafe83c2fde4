import { describe, expect, it } from 'vitest'

import { cacheKeyOf, requestKey } from './request-key.ts'

describe('keys of peers', () => {
  it('are the same for the same, and short ASCII whatever the texts are', () => {
    expect(requestKey('kitchen', 'r')).toBe(requestKey('kitchen', 'r'))
    for (const text of ['r', 'x'.repeat(100_000), '\0 ü 😀', '']) {
      expect(requestKey('kitchen', text)).toMatch(/^peer-[0-9a-f]{64}$/)
      expect(cacheKeyOf({ ensemble: 'band', cacheKey: text })).toMatch(/^[0-9a-f]{64}$/)
    }
  })

  it('keep the parts apart', () => {
    expect(requestKey('ab', 'c')).not.toBe(requestKey('a', 'bc'))
    const keys = [
      { ensemble: 'ab', cacheKey: 'c' },
      { ensemble: 'a', cacheKey: 'bc' },
      { ensemble: 'a","b', cacheKey: 'c' },
      { ensemble: 'a', cacheKey: 'b","c' },
      { ensemble: 'a', cacheKey: 'b', actor: 'c' },
      { ensemble: 'a', cacheKey: 'b', actor: 'd' },
      { ensemble: 'a', cacheKey: 'b' },
    ].map(cacheKeyOf)
    expect(new Set(keys).size).toBe(keys.length)
  })
})
