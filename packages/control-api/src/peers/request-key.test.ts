import { describe, expect, it } from 'vitest'

import { cacheTag, requestKey } from './request-key.ts'

describe('keys of peers', () => {
  it('are the same for the same, and short ASCII whatever the texts are', () => {
    expect(requestKey('kitchen', 'r')).toBe(requestKey('kitchen', 'r'))
    for (const text of ['r', 'x'.repeat(100_000), '\0 ü 😀', '']) {
      expect(requestKey('kitchen', text)).toMatch(/^peer-[0-9a-f]{64}$/)
      expect(cacheTag('band', text)).toMatch(/^[0-9a-f]{64}$/)
    }
  })

  it('keep the parts apart', () => {
    expect(requestKey('ab', 'c')).not.toBe(requestKey('a', 'bc'))
    expect(cacheTag('ab', 'c')).not.toBe(cacheTag('a', 'bc'))
    expect(cacheTag('a","b', 'c')).not.toBe(cacheTag('a', 'b","c'))
  })
})
