import { describe, expect, it } from 'vitest'

import { toCacheKey, toRequestKey } from './request-key.ts'

describe('toRequestKey and toCacheKey', () => {
  it('toRequestKey and toCacheKey return the same short ASCII key for the same texts', () => {
    expect(toRequestKey('kitchen', 'r')).toBe(toRequestKey('kitchen', 'r'))
    for (const text of ['r', 'x'.repeat(100_000), '\0 ü 😀', '']) {
      expect(toRequestKey('kitchen', text)).toMatch(/^peer-[0-9a-f]{64}$/)
      expect(toCacheKey({ ensemble: 'band', cacheKey: text })).toMatch(/^[0-9a-f]{64}$/)
    }
  })

  it('toRequestKey and toCacheKey return different keys for texts that are split differently', () => {
    expect(toRequestKey('ab', 'c')).not.toBe(toRequestKey('a', 'bc'))
    const keys = [
      { ensemble: 'ab', cacheKey: 'c' },
      { ensemble: 'a', cacheKey: 'bc' },
      { ensemble: 'a","b', cacheKey: 'c' },
      { ensemble: 'a', cacheKey: 'b","c' },
      { ensemble: 'a', cacheKey: 'b', actor: 'c' },
      { ensemble: 'a', cacheKey: 'b', actor: 'd' },
      { ensemble: 'a', cacheKey: 'b' },
    ].map(toCacheKey)
    expect(new Set(keys).size).toBe(keys.length)
  })
})
