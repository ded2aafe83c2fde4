import { BODY_LIMITS } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { parseJsonBytes } from './parse-json.ts'

const parse = (text: string) => parseJsonBytes(Buffer.from(text))

describe('parseJsonBytes', () => {
  it.each(['{}', '"\\"["', '[[],[],{"a":"]"}]', '{"a":"\\\\","b":[1]}', '1', 'null', '"🎻["'])(
    'parseJsonBytes reads %s',
    (text) => {
      expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text) })
    },
  )

  it('[GW-N22] parseJsonBytes accepts exactly as many levels as its limit', () => {
    const { maxDepth } = BODY_LIMITS
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(parse(nested(maxDepth)).ok).toBe(true)
    expect(parse(`[${nested(maxDepth - 1)},${nested(maxDepth - 1)}]`).ok).toBe(true)
    expect(parse(nested(maxDepth + 1))).toMatchObject({
      ok: false,
      problem: { message: 'must be nested at most 128 deep, got 129' },
    })
    expect(parse('{"a":'.repeat(maxDepth + 1)).ok).toBe(false)
  })

  it.each([
    [`{"a":{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join()}}}`, 60_001],
    [`[${'{},'.repeat(10_000)}{}]`, 10_001],
    [`{"messages":[${'{"role":"user"},'.repeat(20_000)}1]}`, 40_002],
  ])(
    '[GW-N22] parseJsonBytes refuses more fields and items than its limit, with their number',
    (text, found) => {
      expect(parse(text)).toEqual({
        ok: false,
        problem: { path: '', message: `must have at most 10000 fields and items, got ${found}` },
      })
    },
  )

  it.each(['', '{', '"\\', '{"a":"', '[1,]', '\ufeff\ufeff{}', "{'a':1}"])(
    'parseJsonBytes rejects %j',
    (text) => {
      expect(parse(text)).toMatchObject({
        ok: false,
        problem: { message: expect.stringContaining('must be JSON in UTF-8') },
      })
    },
  )

  it('parseJsonBytes keeps __proto__ as an ordinary name', () => {
    const parsed = parse('{"__proto__":{"a":1}}')
    expect(parsed.ok && Object.keys(parsed.value as object)).toEqual(['__proto__'])
  })

  it.each([
    ['725653563933458432', '', '725653563933458432'],
    ['{"inputs":{"id":-9007199254740993}}', '/inputs/id', '-9007199254740993'],
    ['{"a":[1,{"b/c":9007199254740993.0}]}', '/a/1/b~1c', '9007199254740993'],
    ['{"maximum":9223372036854775807}', '/maximum', '9223372036854775807'],
    ['{"type":"user","maximum":9223372036854775807}', '/maximum', '9223372036854775807'],
    ['{"type":"integer","const":9223372036854775807}', '/const', '9223372036854775807'],
  ])(
    '[GW-N20] parseJsonBytes refuses a long integer with its path and digits: %s',
    (text, path, digits) => {
      expect(parse(text)).toEqual({
        ok: false,
        problem: {
          path,
          message: `must be between -9007199254740991 and 9007199254740991 as a number, got ${digits}; send it as text`,
          received: digits,
        },
      })
    },
  )

  it('[GW-N20] parseJsonBytes refuses a number beyond the range of JavaScript', () => {
    expect(parse('{"a":1e400}')).toMatchObject({
      ok: false,
      problem: { message: expect.stringMatching(/^Numbers must be between .* got 1e400$/) },
    })
  })

  it.each(['{"a":1000000000000000000}', '{"a":1e300}', '{"a":"725653563933458432"}', '[0.1e-400]'])(
    '[GW-N20] parseJsonBytes accepts numbers that JavaScript holds exactly, and text: %s',
    (text) => {
      expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text) })
    },
  )

  it('[GW-N21] parseJsonBytes rounds the limits of numbers in schemas', () => {
    const text =
      '{"tools":[{"inputSchema":{"properties":{"id":{"type":["integer","null"],"minimum":-9223372036854775808,"maximum":18446744073709551615}}}}]}'
    expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text) })
  })
})
