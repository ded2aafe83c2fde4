import { describe, expect, it } from 'vitest'

import { MAX_BODY_DEPTH, parseJsonBytes } from './parse-json.ts'

const parse = (text: string) => parseJsonBytes(Buffer.from(text))

describe('parseJsonBytes', () => {
  it.each(['{}', '"\\"["', '[[],[],{"a":"]"}]', '{"a":"\\\\","b":[1]}', '1', 'null', '"🎻["'])(
    'reads %s',
    (text) => {
      expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text) })
    },
  )

  it('accepts exactly as many levels as its limit', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(parse(nested(MAX_BODY_DEPTH)).ok).toBe(true)
    expect(parse(`[${nested(MAX_BODY_DEPTH - 1)},${nested(MAX_BODY_DEPTH - 1)}]`).ok).toBe(true)
    expect(parse(nested(MAX_BODY_DEPTH + 1))).toMatchObject({
      ok: false,
      problem: { message: 'must be nested at most 128 deep' },
    })
    expect(parse('{"a":'.repeat(MAX_BODY_DEPTH + 1)).ok).toBe(false)
  })

  it.each(['', '{', '"\\', '{"a":"', '[1,]', '\ufeff\ufeff{}', "{'a':1}"])('rejects %j', (text) => {
    expect(parse(text)).toMatchObject({
      ok: false,
      problem: { message: expect.stringContaining('must be JSON in UTF-8') },
    })
  })

  it('keeps __proto__ as an ordinary name', () => {
    const parsed = parse('{"__proto__":{"a":1}}')
    expect(parsed.ok && Object.keys(parsed.value as object)).toEqual(['__proto__'])
  })
})
