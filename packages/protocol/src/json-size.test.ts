import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { BODY_LIMITS, findJsonExcess, measureJson, VALUE_LIMITS } from './json-size.ts'

/** Counts the entries and levels of a value. */
function sizeOf(value: unknown): { entries: number; depth: number } {
  if (typeof value !== 'object' || value === null) return { entries: 0, depth: 0 }
  const parts = Object.values(value).map(sizeOf)
  return {
    entries: parts.reduce((sum, { entries }) => sum + 1 + entries, 0),
    depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
  }
}

describe('measureJson', () => {
  it('measureJson counts the fields, items and levels of every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2), (value, indent) => {
        expect(measureJson(JSON.stringify(value, null, indent))).toEqual(
          sizeOf(JSON.parse(JSON.stringify(value))),
        )
      }),
    )
  })

  it.each([
    ['1', 0, 0],
    ['[ ]', 0, 1],
    ['{"a,[{":"\\",[\\\\"}', 1, 1],
    ['[[],[],{}]', 3, 2],
    ['"[[[["', 0, 0],
  ])('measureJson counts brackets and commas outside of texts: %s', (text, entries, depth) => {
    expect(measureJson(text)).toEqual({ entries, depth })
  })

  it.each(['', '{', '"', '"\\', '[,', ']]]', '{"a":"'])(
    'measureJson ends for invalid text: %j',
    (text) => {
      expect(measureJson(text).entries).toBeLessThan(3)
    },
  )

  it('measureJson measures a megabyte of quotes and backslashes in one pass', () => {
    const text = `"${'\\'.repeat(1_000_000)}"`
    expect(measureJson(text)).toEqual({ entries: 0, depth: 0 })
  })
})

describe('findJsonExcess', () => {
  it('findJsonExcess names the limit and the number found', () => {
    const list = (length: number) => `[${'1,'.repeat(length - 1)}1]`
    const { maxEntries } = BODY_LIMITS
    expect(findJsonExcess(list(maxEntries), BODY_LIMITS)).toBeUndefined()
    expect(findJsonExcess(list(maxEntries + 1), BODY_LIMITS)).toBe(
      'must have at most 10000 fields and items, got 10001',
    )
    expect(findJsonExcess('['.repeat(1_000_000), VALUE_LIMITS)).toBe(
      'must be nested at most 1000 deep, got 1000000',
    )
  })

  it('findJsonExcess accepts long texts, which are one value', () => {
    expect(findJsonExcess(JSON.stringify({ text: ',[{'.repeat(1_000_000) }), BODY_LIMITS)).toBe(
      undefined,
    )
  })
})
