import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import {
  findBigInt,
  formatExactJson,
  hasBigInt,
  parseExactJson,
  toPlainJson,
} from './exact-json.ts'

/** Integers of up to 40 digits. */
const integer = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })

/** JSON text with integers of any length in every position. */
const json = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    integer.map(String),
    fc.double({ noDefaultInfinity: true, noNaN: true }).map((each) => JSON.stringify(each)),
    fc.oneof(fc.string(), integer.map(String)).map((each) => JSON.stringify(each)),
    fc.constantFrom('true', 'false', 'null', '"\\\\"', '"\\""', '"{\\"12345678901234567890\\":1}"'),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  object: fc
    .dictionary(
      fc.oneof(fc.string(), fc.constant('__proto__'), integer.map(String)),
      tie('value'),
      {
        maxKeys: 4,
        noNullPrototype: true,
      },
    )
    .map(
      (members) =>
        `{${Object.entries(members)
          .map(([key, text]) => `${JSON.stringify(key)}:${text}`)
          .join(',')}}`,
    ),
})).value

describe('parseExactJson', () => {
  it.each<[string, unknown]>([
    ['725653563933458432', 725653563933458432n],
    ['-725653563933458432', -725653563933458432n],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['9.007199254740993e15', 9007199254740993n],
    ['90071992547409930e-1', 9007199254740993n],
    ['9007199254740993.5', Number('9007199254740993.5')],
    ['1e300', 1e300],
    ['1e21', 1e21],
    ['0.12345678901234567890', Number('0.1234567890123456789')],
    ['1e-400', 0],
    ['"725653563933458432"', '725653563933458432'],
    [
      '{"725653563933458432":[" 725653563933458432",725653563933458432]}',
      {
        '725653563933458432': [' 725653563933458432', 725653563933458432n],
      },
    ],
    [
      '["\\\\",725653563933458432,"\\"725653563933458432"]',
      ['\\', 725653563933458432n, '"725653563933458432'],
    ],
    [' [ 725653563933458432 , 1 ] ', [725653563933458432n, 1]],
  ])('parseExactJson parses %s', (text, value) => {
    expect(parseExactJson(text)).toStrictEqual(value)
  })

  it.each([
    '0725653563933458432',
    '{725653563933458432:1}',
    '725653563933458432 1',
    '[725653563933458432',
    '725653563933458432.',
    '--725653563933458432',
    '-',
    '725653563933458432n',
    '725653563933458432"a"',
    '"725653563933458432',
  ])('parseExactJson rejects %s as JSON.parse does', (text) => {
    const parse = (): unknown => JSON.parse(text)
    expect(parse).toThrow(SyntaxError)
    let message = ''
    try {
      parse()
    } catch (error) {
      message = error instanceof Error ? error.message : ''
    }
    expect(() => parseExactJson(text)).toThrow(message)
  })

  it.each([
    ['{"a":1e400}', 'Numbers must be between ±1.7976931348623157e+308, got 1e400'],
    ['[-1.5E+999]', 'Numbers must be between ±1.7976931348623157e+308, got -1.5E+999'],
    ['1'.repeat(5000), 'Integers can have at most 4096 digits, got 1111'],
  ])('parseExactJson refuses a number that is out of range', (text, message) => {
    expect(() => parseExactJson(text)).toThrow(message)
  })

  it('parseExactJson keeps a field named __proto__, with a long integer in it', () => {
    const value = parseExactJson('{"__proto__":{"id":725653563933458432}}')
    expect(formatExactJson(value)).toBe('{"__proto__":{"id":725653563933458432}}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it('[PROTO-XJ4] parseExactJson parses text of exactly as many levels and entries as its limits', () => {
    const nested = (depth: number): string =>
      `${'['.repeat(depth)}725653563933458432${']'.repeat(depth)}`
    expect(hasBigInt(parseExactJson(nested(1_000)))).toBe(true)
    expect(() => parseExactJson(nested(100_000))).toThrow(
      new RangeError('JSON must be nested at most 1000 deep, got 100000'),
    )
    const list = (length: number): string => `[${'{},'.repeat(length - 1)}{}]`
    expect(parseExactJson(list(50_000))).toHaveLength(50_000)
    expect(() => parseExactJson(list(50_001))).toThrow(
      new RangeError('JSON must have at most 50000 fields and items, got 50001'),
    )
  })

  it('[PROTO-XJ5] parseExactJson refuses integers beyond 2^53 with too many digits together', () => {
    const list = (length: number): string => `[${'10000000000000000001,'.repeat(length - 1)}1]`
    expect(hasBigInt(parseExactJson(list(15_001)))).toBe(true)
    expect(() => parseExactJson(list(15_002))).toThrow(
      new RangeError(
        'Integers beyond 2^53 can have at most 300000 digits together, got more up to 10000000000000000001',
      ),
    )
    expect(() => parseExactJson(`[${`${'9'.repeat(4096)},`.repeat(80)}1]`)).toThrow(/300000 digits/)
  })

  it('parseExactJson keeps the digits of every integer in every position, and agrees with JSON.parse otherwise', () => {
    fc.assert(
      fc.property(json, (text) => {
        const exact = parseExactJson(text)
        const again = parseExactJson(formatExactJson(exact) ?? '')
        expect(again).toStrictEqual(exact)
        const digits = text.match(/"(?:[^"\\]|\\.)*"|-?\d{17,}/g) ?? []
        const kept = (formatExactJson(exact) ?? '').match(/"(?:[^"\\]|\\.)*"|-?\d{17,}/g) ?? []
        const long = (list: readonly string[]): readonly string[] =>
          list.filter((each) => !each.startsWith('"')).toSorted()
        expect(long(kept)).toStrictEqual(long(digits))
        expect(JSON.stringify(roundAll(exact))).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: 500 },
    )
  })
})

/** Rounds each integer, as `JSON.parse` does. */
function roundAll(value: unknown): unknown {
  return JSON.parse(formatExactJson(value) ?? 'null')
}

describe('formatExactJson', () => {
  it('formatExactJson writes the digits of a bigint as a number', () => {
    expect(formatExactJson({ id: 725653563933458432n, list: [1n, 2] })).toBe(
      '{"id":725653563933458432,"list":[1,2]}',
    )
  })

  it('formatExactJson returns undefined for a value without a JSON form', () => {
    expect(formatExactJson(undefined)).toBeUndefined()
    expect(formatExactJson(() => 1n)).toBeUndefined()
  })

  it('formatExactJson throws for a value that contains itself, with or without a bigint', () => {
    const loop: Record<string, unknown> = { id: 1n }
    loop['self'] = loop
    expect(() => formatExactJson(loop)).toThrow(TypeError)
  })
})

describe('toPlainJson', () => {
  it('toPlainJson makes a bigint a number where the number has the same digits, and text otherwise', () => {
    expect(toPlainJson({ a: 725653563933458432n, b: [10n ** 18n, 7n, 10n ** 21n] })).toStrictEqual({
      a: '725653563933458432',
      b: [1e18, 7, '1000000000000000000000'],
    })
  })

  it('toPlainJson returns a value without bigint itself', () => {
    const value = { at: new Date(0) }
    expect(toPlainJson(value)).toBe(value)
  })

  it('toPlainJson never loses a digit', () => {
    fc.assert(
      fc.property(integer, (each) => {
        const plain = toPlainJson([each])
        expect(JSON.stringify(plain).replaceAll(/[["\]]/g, '')).toBe(String(each))
      }),
    )
  })
})

describe('findBigInt', () => {
  it('findBigInt returns the path of a bigint', () => {
    expect(findBigInt({ a: [1, { 'b/c': 5n }] })).toStrictEqual({ path: '/a/1/b~1c', integer: 5n })
  })

  it('findBigInt terminates for a value that contains itself', () => {
    const loop: unknown[] = []
    loop.push(loop, loop)
    expect(findBigInt(loop)).toBeUndefined()
  })
})
