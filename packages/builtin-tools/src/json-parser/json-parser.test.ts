import { runTool, toolContext, type ToolCallOutcome } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { jsonParser } from './json-parser.ts'

const DOCUMENT = JSON.stringify({
  user: { name: 'Alice', address: { city: 'Denver', lines: ['a', 'b'] }, admin: false, boss: null },
  items: [{ title: 'first' }, { title: 'second', tags: [] }],
  text: 'two\nlines "quoted"',
  empty: '',
  'a.b': { 'c[0]': 1, 'it\'s "x"': 2 },
  $ref: 'own',
  '0': 'zero',
})

/** Returns the text of the result or of the failure. */
async function parse(jsonPath: string, json = DOCUMENT): Promise<string> {
  const result = await jsonParser().execute({ jsonPath, json }, toolContext())
  if (typeof result === 'string') return result
  return result.success ? result.output : `FAILED ${result.errorMessage}`
}

describe('paths', () => {
  it.each([
    ['user.name', 'Alice'],
    ['user.address.city', 'Denver'],
    ['items[0].title', 'first'],
    ['items[1].title', 'second'],
    ['items[ 1 ].title', 'second'],
    ['items.1.title', 'second'],
    ['user.address.lines[1]', 'b'],
    ['$.user.name', 'Alice'],
    ['$["user"].name', 'Alice'],
    [' user.name\n', 'Alice'],
    ['["a.b"]["c[0]"]', '1'],
    ["['a.b']['c[0]']", '1'],
    ['$["a.b"]["it\'s \\"x\\""]', '2'],
    ["['a.b']['it\\'s \"x\"']", '2'],
    ['$ref', 'own'],
    ['["$ref"]', 'own'],
    ['0', 'zero'],
  ])('The path %s selects a value', async (path, value) => {
    expect(await parse(path)).toBe(value)
  })

  it.each(['', '$', '  ', ' $ '])('The path %j selects the whole document', async (path) => {
    expect(await parse(path, ' {"a" : [ 1, 2 ] } ')).toBe('{"a":[1,2]}')
  })

  it.each([
    ['[1]', '[10, 20]', '20'],
    ['$[1]', '[10, 20]', '20'],
    ['[1][0]', '[[1],[2]]', '2'],
    ['$', '"text"', 'text'],
    ['$', '7', '7'],
    ['[""]', '{"":"blank key"}', 'blank key'],
    ['größe.ключ', '{"größe":{"ключ":1}}', '1'],
    ['a b', '{"a b":1}', '1'],
    ['[007]', '[0,1,2,3,4,5,6,7]', '7'],
  ])('The path %s of %s selects a value', async (path, json, value) => {
    expect(await parse(path, json)).toBe(value)
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', 'size'])(
    'The name %s is an ordinary key',
    async (key) => {
      expect(await parse(key, `{"${key}":{"a":1}}`)).toBe('{"a":1}')
      expect(await parse(key, '{}')).toBe(
        `FAILED Path not found: '${key}': the whole document is an object with no keys`,
      )
      expect(await parse(key, '[]')).toContain('FAILED Path not found')
    },
  )
})

describe('values', () => {
  it.each([
    ['text', 'two\nlines "quoted"'],
    ['empty', ''],
    ['user.admin', 'false'],
    ['user.boss', 'null'],
    ['items[1].tags', '[]'],
    ['items', '[{"title":"first"},{"title":"second","tags":[]}]'],
    ['user.address', '{"city":"Denver","lines":["a","b"]}'],
  ])(
    'A value is formatted as %s: strings without quotes, everything else as compact JSON',
    async (path, value) => {
      expect(await parse(path)).toBe(value)
    },
  )

  it.each(['12345678901234567890', '1.0', '1.50', '-0', '1e400', '1E+2', '0.1', '-12.5e-3'])(
    'A value keeps the digits of the number %s, alone and nested',
    async (number) => {
      expect(await parse('a', `{"a":${number}}`)).toBe(number)
      expect(await parse('', `[${number}]`)).toBe(`[${number}]`)
    },
  )

  it('A value keeps the order of keys, also of those that look like numbers', async () => {
    expect(await parse('', '{"b":1,"2":2,"1":3}')).toBe('{"b":1,"2":2,"1":3}')
  })

  it('A value of a duplicate key is the last one', async () => {
    expect(await parse('a', '{"a":1,"a":2}')).toBe('2')
  })

  it('A value has its strings within JSON escaped', async () => {
    const json = '["\\u0041\\n\\"\\\\\\/\\ud83d\\ude00","\\ud83d"]'
    expect(await parse('', json)).toBe(JSON.stringify(JSON.parse(json)))
    expect(await parse('[0]', json)).toBe('A\n"\\/😀')
  })
})

describe('a path without a value', () => {
  const keys = '"user", "items", "text", "empty", "a.b", "$ref"'
  it.each([
    [
      'nobody',
      `Path not found: 'nobody': the whole document is an object with the keys "0", ${keys}`,
    ],
    [
      '$.nobody',
      `Path not found: '$.nobody': the whole document is an object with the keys "0", ${keys}`,
    ],
    ['$[0]', `Path not found: '$[0]': the whole document is an object with the keys "0", ${keys}`],
    [
      'user.address.zip.code',
      `Path not found: 'user.address.zip.code': 'user.address' is an object with the keys "city", "lines"`,
    ],
    ['user.name.first', "Path not found: 'user.name.first': 'user.name' is a string"],
    ['user.admin[0]', "Path not found: 'user.admin[0]': 'user.admin' is a boolean"],
    ['user.boss.name', "Path not found: 'user.boss.name': 'user.boss' is null"],
    ['["a.b"]["c[0]"].x', `Path not found: '["a.b"]["c[0]"].x': '["a.b"]["c[0]"]' is a number`],
    [
      'items.title',
      "Path not found: 'items.title': 'items' is an array of 2 elements, [0] to [1]; continue the path with [n]",
    ],
    [
      'items[2].title',
      "Array index out of bounds: 2: 'items' is an array of 2 elements, [0] to [1]",
    ],
    ['items.2', "Array index out of bounds: 2: 'items' is an array of 2 elements, [0] to [1]"],
    [
      'items[99999999999999999999]',
      "Array index out of bounds: 99999999999999999999: 'items' is an array of 2 elements, [0] to [1]",
    ],
    ['items[1].tags[0]', "Array index out of bounds: 0: 'items[1].tags' is an empty array"],
  ])('The path %s without a value is reported', async (path, message) => {
    expect(await parse(path)).toBe(`FAILED ${message}`)
  })

  it('A path without a value names the only element of an array', async () => {
    expect(await parse('[1]', '[0]')).toBe(
      'FAILED Array index out of bounds: 1: the whole document is an array of one element, [0]',
    )
  })

  it('A path without a value names at most ten keys, and shortens long keys and paths', async () => {
    const many = JSON.stringify(
      Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`k${n}`, n])),
    )
    expect(await parse('x', many)).toMatch(/the keys "k0", .*"k9" and 2 more$/)
    const long = 'k'.repeat(5_000)
    const message = await parse(`a.${long}`, `{"a":{"${long}x":1}}`)
    expect(message).toContain(`"${'k'.repeat(100)}…"`)
    expect(message.length).toBeLessThan(400)
  })
})

describe('an invalid path', () => {
  const bracket = '[n] with n from 0, or ["key"]'
  it.each([
    ['a..b', 'a key', 3, '".b"'],
    ['a.', 'a key', 3, 'the end'],
    ['$.', 'a key', 3, 'the end'],
    ['.a', 'a key', 1, '".a"'],
    ['a.[0]', 'a key', 3, '"[0]"'],
    ['a[-1]', bracket, 2, '"[-1]"'],
    ['a[*]', bracket, 2, '"[*]"'],
    ['a[0', bracket, 2, '"[0"'],
    ['a[]', bracket, 2, '"[]"'],
    ['a[b]', bracket, 2, '"[b]"'],
    ['a["b]', bracket, 2, '"[\\"b]"'],
    [`a["b']`, bracket, 2, `"[\\"b']"`],
    ['a]', '"." or "["', 2, '"]"'],
    ['a[0]b', '"." or "["', 5, '"b"'],
  ])('The invalid path %s is reported with its position', async (path, expected, position, got) => {
    expect(await parse(path)).toBe(
      `FAILED Invalid path: '${path}': expected ${expected} at position ${position}, got ${got}`,
    )
  })
})

describe('the size limit', () => {
  it('The size limit counts bytes of UTF-8, and JSON above it is not parsed', async () => {
    const tool = jsonParser({ maxBytes: 10 })
    const of = (json: string): unknown => tool.execute({ jsonPath: '', json }, toolContext())
    expect(await of('"12345678"')).toMatchObject({ success: true })
    expect(await of('"€€ "')).toMatchObject({ success: true, output: '€€ ' })
    expect(await of('"€€€"')).toMatchObject({
      errorMessage: 'JSON too large: 11 bytes, maximum 10',
    })
  })

  it('The size limit is 10 MiB by default', async () => {
    const json = `"${'x'.repeat(10 * 1024 * 1024 - 2)}"`
    expect(await parse('$', json)).toHaveLength(json.length - 2)
    expect(await parse('$', `${json} `)).toBe(
      'FAILED JSON too large: 10485761 bytes, maximum 10485760',
    )
  })

  it('The size limit must be positive at creation', () => {
    for (const maxBytes of [0, -1, Number.NaN]) {
      expect(() => jsonParser({ maxBytes })).toThrow(
        new RangeError(`Cannot define tool "json_parser": maxBytes must be > 0, got ${maxBytes}`),
      )
    }
  })
})

describe('jsonParser', () => {
  const run = (input: unknown, options = {}): Promise<ToolCallOutcome> =>
    runTool(jsonParser(options), {
      id: '1',
      name: 'json_parser',
      arguments: JSON.stringify(input),
    })

  it('jsonParser declares two strings to models', () => {
    expect(jsonParser()).toMatchObject({ name: 'json_parser', kind: 'typed' })
    expect(jsonParser().inputSchema).toMatchObject({
      required: ['jsonPath', 'json'],
      properties: { jsonPath: { type: 'string' }, json: { type: 'string' } },
    })
  })

  it.each([
    ['its text', '{"a":[1,true]}', '[1,true]'],
    ['the value itself', { a: [1, true] }, '[1,true]'],
  ])('jsonParser accepts %s', async (_title, json, output) => {
    expect((await run({ jsonPath: 'a', json })).result).toMatchObject({ success: true, output })
  })

  it('jsonParser accepts arrays, numbers and booleans in place of text', async () => {
    expect((await run({ jsonPath: '[1]', json: [1, 'b'] })).result.output).toBe('b')
    expect((await run({ jsonPath: '$', json: 5 })).result.output).toBe('5')
    expect((await run({ jsonPath: '$', json: true })).result.output).toBe('true')
  })

  it('jsonParser rejects missing arguments', async () => {
    for (const input of [
      { jsonPath: 'a' },
      { jsonPath: 'a', json: null },
      { json: '{}' },
      [],
      'a',
    ]) {
      expect(await run(input)).toMatchObject({
        end: 'finished',
        result: { success: false, errorMessage: expect.stringContaining('Invalid input') },
      })
    }
  })

  it("jsonParser reads a reviewer's edit in the same way", async () => {
    const decoded = await jsonParser().readInput({ jsonPath: 'a', json: { a: 1 } })
    expect(decoded).toEqual({ ok: true, value: { jsonPath: 'a', json: '{"a":1}' } })
  })

  it('jsonParser returns a failed result for invalid JSON', async () => {
    expect(await run({ jsonPath: 'a', json: '{' })).toMatchObject({
      end: 'finished',
      result: { success: false, errorMessage: expect.stringContaining('Invalid JSON: ') },
    })
  })

  it('jsonParser has default settings', () => {
    expect(jsonParser({ name: 'pick', timeoutMs: 5 })).toMatchObject({ name: 'pick', timeoutMs: 5 })
  })
})
