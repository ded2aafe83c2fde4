import { describe, expect, it } from 'vitest'

import { coerceText } from './coercions.ts'

const any = (): boolean => true

describe('meaningsOf', () => {
  it.each<[string, unknown]>([
    ['5', 5],
    ['true', true],
    ['False', false],
    [' TRUE ', true],
    ['{"a":[1]}', { a: [1] }],
    [' [1,"2"]', [1, '2']],
    ['{"__proto__":1}', JSON.parse('{"__proto__":1}')],
  ])('[CORE-C1] [CORE-C2] of %j is the value that it spells', (text, meaning) => {
    expect(coerceText(text, any)).toEqual([meaning])
  })

  it.each([
    '',
    'null',
    'yes',
    'on',
    'truely',
    '"text"',
    '{"a":',
    '[1,]',
    '{a:1}',
    'undefined',
    'abc',
  ])('[CORE-C3] of %j is nothing else', (text) => {
    expect(coerceText(text, any)).toEqual([])
  })

  it.each([
    ['5', 'number'],
    ['true', 'boolean'],
    ['{}', 'object'],
    ['[]', 'array'],
  ])('of %j is looked for only where a %s is wanted', (text, type) => {
    expect(coerceText(text, (wanted) => wanted === type)).toHaveLength(1)
    expect(coerceText(text, (wanted) => wanted !== type)).toEqual([])
  })
})
