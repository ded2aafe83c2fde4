import { task } from '@tutti/ensemble'
import { afterEach, describe, expect, it } from 'vitest'

import { processorTimer } from '../../../../tooling/test-kit/processor-time.ts'

import { boundedSchema, describeFault, newSchemaTime, type SchemaTime } from './bounded-schema.ts'

type Json = Readonly<Record<string, unknown>>

/** Time budget for tests of checks, with enough time to compile on a busy machine. */
function checkTime(): SchemaTime {
  return { ...newSchemaTime(), leftMs: 30_000 }
}

function createReader(schema: Json) {
  const output = boundedSchema(schema, checkTime())
  const made = task({ name: 't', description: 'T', output })
  if (made.outputReader === undefined) throw new Error('The task has no output')
  return made.outputReader
}

function faultIn(schema: Json): string {
  try {
    boundedSchema(schema, newSchemaTime())
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return describeFault(error)
  }
  return 'none'
}

/** Texts that could break out of generated code. */
const PAYLOADS = [
  `globalThis.hacked = 1`,
  `"+(globalThis.hacked=1)+"`,
  `'+(globalThis.hacked=1)+'`,
  '`+(globalThis.hacked=1)+`',
  '${globalThis.hacked=1}',
  `"]);globalThis.hacked=1;//`,
  `\\"];globalThis.hacked=1;//`,
  `/;globalThis.hacked=1;/`,
  `*/globalThis.hacked=1/*`,
  `\n;globalThis.hacked=1;\n`,
  `\u2028globalThis.hacked=1\u2029`,
  `x, globalThis.hacked=1`,
]

const KEYWORDS =
  '$id $ref $anchor $dynamicRef $dynamicAnchor $schema $comment type format pattern title description const default minimum maximum ' +
  'exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains uniqueItems contentEncoding additionalProperties ~kind'

/** Every position in a schema where a request can put arbitrary text. */
const PLACES: Readonly<Record<string, (text: string) => Json>> = {
  ...Object.fromEntries(
    KEYWORDS.split(' ').map((keyword) => [keyword, (text: string): Json => ({ [keyword]: text })]),
  ),
  enum: (text) => ({ enum: [text] }),
  required: (text) => ({ required: [text] }),
  'a keyword': (text) => ({ [text]: true }),
  'a list of types': (text) => ({ type: ['string', text] }),
  'a property': (text) => ({ type: 'object', properties: { [text]: { type: 'integer' } } }),
  'a closed property': (text) => ({
    type: 'object',
    properties: { [text]: {} },
    additionalProperties: false,
    unevaluatedProperties: false,
  }),
  'a property of a const': (text) => ({ const: { [text]: text } }),
  'a property pattern': (text) => ({ patternProperties: { [text]: { type: 'integer' } } }),
  'a property name': (text) => ({ propertyNames: { const: text } }),
  'a definition': (text) => ({ $defs: { [text]: { const: text } }, $ref: `#/$defs/${text}` }),
  'an id that is referred to': (text) => ({ $defs: { a: { $id: text } }, $ref: text }),
  'a dependent name': (text) => ({ dependentRequired: { [text]: [text] } }),
  'a dependent schema': (text) => ({ dependentSchemas: { [text]: { required: [text] } } }),
  'a nested enum': (text) => ({ items: { anyOf: [{ enum: [text] }, { not: { const: text } }] } }),
  'a default of a property': (text) => ({ properties: { a: { default: text, type: 'string' } } }),
}

describe('a schema of a request', () => {
  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'hacked')
  })

  it.each(Object.entries(PLACES))(
    '[RUNS-T3] A schema of a request is never executed as code: %s',
    async (_, place) => {
      for (const payload of PAYLOADS) {
        const schema = JSON.parse(JSON.stringify(place(payload)))
        const fault = faultIn(schema)
        if (fault === 'none') {
          const { read } = createReader(schema)
          const values = ['1', '"x"', '{}', '[1]', JSON.stringify({ [payload]: payload, a: 1 })]
          for (const text of [...values, JSON.stringify(payload)]) await read(text)
        }
        expect(Reflect.has(globalThis, 'hacked'), JSON.stringify(schema)).toBe(false)
      }
    },
  )

  it('[RUNS-T3] A schema of a request is enforced with coercion, for any property names', async () => {
    const { read, schema } = createReader({
      type: 'object',
      properties: { toString: { type: 'integer' }, tags: { type: 'array', items: {} } },
      required: ['toString'],
    })
    expect(await read('{"toString":"1","tags":"x"}')).toEqual({
      ok: true,
      value: { toString: 1, tags: ['x'] },
    })
    expect(await read('{"tags":[]}')).toMatchObject({
      ok: false,
      problem: expect.stringContaining('/toString is required'),
    })
    expect(Object.keys(schema)).toEqual(['type', 'properties', 'required'])
  })

  it.each<[string, Json, string]>([
    ['no type', { type: 'text' }, '/type must be a JSON type'],
    [
      'one nested',
      { properties: { a: { items: { required: 'b' } } } },
      '/properties/a/items/required must be a list of names',
    ],
    [
      'all at once',
      { type: 1, enum: 2 },
      '/type must be a JSON type or a list of them, got 1; /enum',
    ],
    ['a reference to nowhere', { $ref: '#/$defs/x' }, '/$ref must lead to a schema'],
    ['a reference to elsewhere', { $ref: 'http://127.0.0.1/x' }, '/$ref must lead to a schema'],
    ['a reference to itself', { $ref: '#' }, '/$ref must not lead back to itself'],
    [
      'references in a loop',
      {
        $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } },
        $ref: '#/$defs/a',
      },
      'must not lead back to itself',
    ],
    [
      'a broken pattern',
      { pattern: '(' },
      '/pattern is not checked: "(" has an unterminated group',
    ],
    ['a default that does not fit', { type: 'integer', default: 'x' }, '/default must match'],
    ['no schema of a library', { '~standard': { validate: 1 }, type: 'text' }, '/type must be'],
  ])(
    '[RUNS-T3] A schema of a request is refused with the path of an error: %s',
    (_, schema, message) => {
      expect(faultIn(schema)).toContain(message)
    },
  )

  it('[RUNS-B1] A schema of a request is refused with its size when it is too large', () => {
    const wide = (fields: number): Json => ({
      properties: Object.fromEntries(
        Array.from({ length: fields }, (__, index) => [`field${index}`, { type: 'string' }]),
      ),
    })
    expect(faultIn(wide(100))).toBe('none')
    expect(faultIn(wide(5_000))).toMatch(/^must be at most 65536 characters of JSON, got \d{6}$/)
  })

  it.each([100, 101, 5_000, 300_000])(
    '[RUNS-B1] A schema of a request is accepted up to a depth of 100: %i',
    (depth) => {
      const text = `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`
      const fault = faultIn(JSON.parse(`{"const":${text}}`))
      expect(fault).toBe(depth <= 100 ? 'none' : `must nest at most 100 deep, got ${depth}`)
    },
  )

  it.each<[string, Json, string]>([
    ['lookahead', { pattern: '^(?=a)' }, '/pattern is not checked: "^(?=a)" uses lookahead'],
    [
      'a reference to a group',
      { properties: { a: { patternProperties: { '(a)\\1': {} } } } },
      'refers to a group',
    ],
    ['too many repetitions', { pattern: '(a{1,1000}){1,1000}' }, 'needs too many states'],
  ])(
    '[RUNS-B1] A schema of a request is refused when it needs backtracking: %s',
    (_, schema, message) => {
      expect(faultIn(schema)).toContain(message)
    },
  )

  it('[RUNS-B1] A schema of a request is refused when the schemas before it took too long to compile', () => {
    const time = { ...newSchemaTime(), leftMs: -1_000 }
    expect(() => boundedSchema({ type: 'string' }, time)).toThrow(
      'must compile, together with the schemas before it, within 200 ms of processor time plus 2 ms for each thousand characters',
    )
  })

  it('[RUNS-B1] A schema of a request is quick to compile with a default that a pattern matches slowly', () => {
    const schema = { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(60)}!` }
    const processorMs = processorTimer()
    for (let task = 0; task < 30; task += 1) {
      expect(() => boundedSchema(schema, checkTime())).toThrow('/default must match its schema')
    }
    expect(processorMs()).toBeLessThan(1_000)
  })

  it.each<[string, Json, unknown]>([
    ['a pattern', { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`],
    [
      'a pattern of names',
      { patternProperties: { '^(a|a)*$': {} }, additionalProperties: { type: 'string' } },
      { [`${'a'.repeat(60)}!`]: 1 },
    ],
    [
      'unions in unions',
      {
        $defs: {
          n: {
            anyOf: Array.from({ length: 8 }, (_, index) => ({
              properties: { a: { $ref: '#/$defs/n' }, b: { const: index } },
              required: ['b'],
            })),
          },
        },
        $ref: '#/$defs/n',
      },
      Array.from({ length: 12 }).reduce((inner) => ({ a: inner, b: 'x' }), 1),
    ],
  ])('[RUNS-B2] A schema of a request has checks that end soon: %s', async (_, schema, answer) => {
    const { readValue } = createReader(schema)
    const processorMs = processorTimer()
    expect(await readValue(answer)).toMatchObject({ ok: false })
    expect(processorMs()).toBeLessThan(1_000)
  })

  it('[RUNS-B2] A schema of a request makes an answer invalid that cannot be checked within the steps of one check', async () => {
    const { readValue } = createReader({ items: { type: 'string', pattern: '(a|aa)+$' } })
    expect(await readValue(['a'.repeat(1_000_000)])).toMatchObject({
      ok: false,
      problem: expect.stringContaining('cannot be checked: the check needs more than 600000 steps'),
    })
  })
})
