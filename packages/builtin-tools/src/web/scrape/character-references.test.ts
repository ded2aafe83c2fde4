import { describe, expect, it } from 'vitest'

import { referenceDecoder } from './character-references.ts'

const NAMED = new Map([
  ['eacute', 'é'],
  ['amp', '&'],
  ['lt', '<'],
])

describe('referenceDecoder', () => {
  const decode = referenceDecoder((name) => NAMED.get(name))

  it.each([
    ['caf&eacute;', 'café'],
    ['&lt;b&gt;', '<b&gt;'],
    ['&amp;lt;', '&lt;'],
    ['&amp &eacute', '&amp &eacute'],
    ['a & b; c', 'a & b; c'],
    ['&;&#;&#x;', '&;&#;&#x;'],
    ['&#233;&#xE9;&#Xe9;&#0233;', 'éééé'],
    ['&#128640;&#x1F680;', '🚀🚀'],
    ['&#150;&#x80;', '–€'],
    ['&#0;&#xD800;&#x110000;&#9999999;', '\u{FFFD}'.repeat(4)],
    ['&constructor;&__proto__;', '&constructor;&__proto__;'],
  ])('reads %s as %s', (text, characters) => {
    expect(decode(text)).toBe(characters)
  })

  it('asks for each name once, and for no more names than HTML has', () => {
    let asked = 0
    const decode = referenceDecoder(() => {
      asked += 1
      return undefined
    })
    decode('&a1;&a1;')
    decode('&a1;')
    expect(asked).toBe(1)
    const names = Array.from({ length: 100_000 }, (_, n) => `&b${n};`).join('')
    expect(decode(names)).toBe(names)
    expect(asked).toBe(2500)
  })
})
