import { createHash } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import { computeDigest, computeJsonDigest, formatCanonicalJson } from './digest.ts'
import { computePlainSha256, computeSha256 } from './sha256.ts'

describe.each([
  ['computeSha256', computeSha256],
  ['computePlainSha256', computePlainSha256],
])('%s', (_, compute) => {
  it('The SHA-256 of this package equals the SHA-256 of Node for texts of every length around the size of a block', () => {
    for (let length = 0; length < 200; length += 1) {
      const text = 'é'.repeat(length % 3) + 'a'.repeat(length)
      expect(compute(text)).toBe(createHash('sha256').update(text).digest('hex'))
    }
  })

  it('The SHA-256 of this package equals the SHA-256 of Node for a long text', () => {
    const text = 'The quick brown fox 🦊 '.repeat(10_000)
    expect(compute(text)).toBe(createHash('sha256').update(text).digest('hex'))
  })

  it('The SHA-256 of this package encodes half of a surrogate pair like Node', () => {
    const text = 'a\ud83d'
    expect(compute(text)).toBe(createHash('sha256').update(text).digest('hex'))
  })
})

describe('computeDigest', () => {
  it('computeDigest is the start of the SHA-256', () => {
    expect(computeDigest('abc')).toBe('ba7816bf8f01cfea')
  })
})

describe('computeJsonDigest', () => {
  it('computeJsonDigest is equal for values that differ in the order of their keys', () => {
    expect(computeJsonDigest({ a: 1, b: { c: 2, d: [3, 4] } })).toBe(
      computeJsonDigest({ b: { d: [3, 4], c: 2 }, a: 1 }),
    )
  })

  it('computeJsonDigest differs for values that differ in the order of an array', () => {
    expect(computeJsonDigest([1, 2])).not.toBe(computeJsonDigest([2, 1]))
  })
})

describe('formatCanonicalJson', () => {
  it('formatCanonicalJson returns null for a value that JSON cannot express', () => {
    expect(formatCanonicalJson(undefined)).toBe('null')
    expect(formatCanonicalJson(() => 1)).toBe('null')
  })
})
