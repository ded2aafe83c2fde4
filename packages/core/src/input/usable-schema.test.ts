import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { createInputReader, createOutputReader } from './input-reader.ts'
import { createSchemaDocument } from './schema-document.ts'
import { compileOrThrow, findObjectFaults, openUsableSchema } from './usable-schema.ts'

import type { TSchema } from 'typebox'

const messageOf = (schema: unknown): string => {
  try {
    // JavaScript callers can pass any value.
    createInputReader(schema as TSchema, { toolName: 'x' })
    return 'no error'
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return error instanceof Error ? error.message : ''
  }
}

const withField = (a: unknown): object => ({ type: 'object', properties: { a } })

describe('an unusable schema', () => {
  it.each<[string, unknown, string]>([
    ['a pattern', { pattern: '(' }, '/pattern must be a regular expression, got "(": Invalid'],
    ['a pattern that is no text', { pattern: 5 }, '/pattern must be a regular expression, got 5'],
    [
      'a pattern of another language',
      { pattern: '^a\\Z$' },
      '/pattern must be a regular expression, got "^a\\\\Z$": Invalid',
    ],
    [
      'a pattern for names',
      { patternProperties: { '[': {} } },
      '/patternProperties/[ must be a regular expression, got "[": Invalid',
    ],
    ['a type', { type: 'strng' }, '/type must be a JSON type or a list of them, got "strng"'],
    ['a list of types', { type: ['string', 'int'] }, '/type must be a JSON type or a list of them'],
    ['required', { required: true }, '/required must be a list of names, got true'],
    ['properties', { properties: [] }, '/properties must be an object, got []'],
    ['an enum', { enum: 'a' }, '/enum must be a list, got "a"'],
    ['a bound', { minimum: '1' }, '/minimum must be a number, got "1"'],
    ['a union', { anyOf: {} }, '/anyOf must be a list, got {}'],
    ['a format', { format: 1 }, '/format must be a string, got 1'],
    ['items', { items: 'string' }, '/items must be a schema, got "string"'],
    ['a member', { anyOf: [{}, null] }, '/anyOf/1 must be a schema, got null'],
    ['a field', { properties: { 'b/c': 5 } }, '/properties/b~1c must be a schema, got 5'],
    ['a tuple', { items: [{}, 7] }, '/items/1 must be a schema, got 7'],
    ['a condition', { if: 1 }, '/if must be a schema, got 1'],
    ['a reference', { $ref: 7 }, '/$ref must be a string, got 7'],
  ])('An unusable schema is rejected at definition with an invalid %s', (_, part, message) => {
    expect(messageOf(withField(part))).toContain(
      `Cannot define tool "x": input /properties/a${message}`,
    )
  })

  it.each(['#/$defs/B', '#/nope', 'B', '#b', 'https://example.com/b.json', '#/%'])(
    'An unusable schema is rejected for a reference to %s without a target',
    (reference) => {
      const schema = { ...withField({ $ref: reference }), $defs: { A: {} } }
      expect(messageOf(schema)).toBe(
        `Cannot define tool "x": input /properties/a/$ref must lead to a schema in the same document, got "${reference}"`,
      )
    },
  )

  it.each<[string, object]>([
    ['itself', { $ref: '#/$defs/A' }],
    ['an intersection of itself', { allOf: [{ $ref: '#/$defs/A' }] }],
    ['a union of itself', { anyOf: [{ type: 'string' }, { oneOf: [{ $ref: '#/$defs/A' }] }] }],
    ['what it is not', { not: { $ref: '#/$defs/A' } }],
    ['a condition on itself', JSON.parse('{"if":{},"then":{"$ref":"#/$defs/A"}}')],
    ['another that refers back', { $ref: '#/$defs/B' }],
  ])('An unusable schema is rejected for a reference to %s', (_, A) => {
    const schema = { ...withField({ $ref: '#/$defs/A' }), $defs: { A, B: { $ref: '#/$defs/A' } } }
    expect(messageOf(schema)).toMatch(
      /\/\$defs\/A\S*\/\$ref must not lead back to itself, got "#\/\$defs\//,
    )
  })

  it('An unusable schema is rejected for all its faults at once, at any place', () => {
    const schema = {
      type: 'object',
      properties: { a: { items: { pattern: '(' } }, b: { allOf: [{ $ref: '#/no' }] } },
      $defs: { C: { minimum: 'x' } },
    }
    const message = messageOf(schema)
    expect(message).toContain('/properties/a/items/pattern must')
    expect(message).toContain('; /properties/b/allOf/0/$ref must')
    expect(message).toContain('; /$defs/C/minimum must')
  })

  it.each([
    'additionalItems',
    'additionalProperties',
    'contains',
    'else',
    'if',
    'items',
    'not',
    'propertyNames',
    'then',
    'unevaluatedItems',
    'unevaluatedProperties',
  ])('An unusable schema has its faults named in %s', (keyword) => {
    expect(messageOf(withField({ [keyword]: { pattern: '(' } }))).toContain(
      `/properties/a/${keyword}/pattern must`,
    )
  })

  it.each(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'])(
    'An unusable schema has its faults named in a list of %s',
    (keyword) => {
      expect(messageOf(withField({ [keyword]: [{}, { pattern: '(' }] }))).toContain(
        `/properties/a/${keyword}/1/pattern must`,
      )
    },
  )

  it.each([
    '$defs',
    'definitions',
    'dependencies',
    'dependentSchemas',
    'patternProperties',
    'properties',
  ])('An unusable schema has its faults named in %s, by name', (keyword) => {
    expect(messageOf(withField({ [keyword]: { b: { pattern: '(' } } }))).toContain(
      `/properties/a/${keyword}/b/pattern must`,
    )
  })

  it('An unusable schema has its faults named where only a reference leads', () => {
    const schema = { ...withField({ $ref: '#/shared/A' }), shared: { A: { pattern: '(' } } }
    expect(messageOf(schema)).toContain('input /properties/a/$ref/pattern must be')
  })

  it('An unusable schema is rejected when it contains itself', () => {
    const schema: Record<string, unknown> = { type: 'object' }
    schema['properties'] = { a: schema }
    const message = '/properties/a must not contain itself'
    expect(messageOf(schema)).toBe(`Cannot define tool "x": input ${message}`)
    expect(() => createOutputReader(schema, { toolName: 'x' })).toThrow(
      `Cannot define tool "x": output ${message}`,
    )
    const far = { type: 'object', properties: { b: { items: { anyOf: [true, schema] } } } }
    schema['properties'] = { a: { not: {} }, c: far }
    far.properties.b.items.anyOf.push(far)
    expect(messageOf(schema)).toBe(
      'Cannot define tool "x": input /properties/c/properties/b/items/anyOf/1 must not contain itself; ' +
        '/properties/c/properties/b/items/anyOf/2 must not contain itself',
    )
  })

  it('An unusable schema can have the same part in several places', () => {
    const part = withField({ type: 'string' })
    expect(messageOf({ type: 'object', properties: { a: part, b: withField(part) } })).toBe(
      'no error',
    )
  })

  it.each([undefined, null, 'object', 5, []])(
    'An unusable schema is rejected when it is not a schema: %j',
    (schema) => {
      expect(messageOf(schema)).toMatch(/^Cannot define tool "x": input must be a schema, got /)
    },
  )

  it('An unusable schema is rejected for an output too, whose schema can have any type', () => {
    const options = { toolName: 'x' }
    expect(() => createOutputReader({ pattern: '(' }, options)).toThrow(
      'Cannot define tool "x": output /pattern must be a regular expression',
    )
    expect(createOutputReader(Type.String(), options).read('a')).toEqual({ ok: true, value: 'a' })
  })
})

describe('a usable schema', () => {
  it.each<[string, object]>([
    ['a reference by pointer', { ...withField({ $ref: '#/$defs/A' }), $defs: { A: {} } }],
    ['a reference by anchor', { ...withField({ $ref: '#a' }), $defs: { A: { $anchor: 'a' } } }],
    ['a reference by id', { ...withField({ $ref: 'A' }), $defs: { A: { $id: 'A' } } }],
    ['a reference to the root', withField({ $ref: '#' })],
    [
      'keywords of its own',
      { ...withField({ 'x-unit': 'm', nullable: true }), required: undefined },
    ],
    ['schemas inside values', withField({ const: { pattern: '(' }, examples: [{ type: 'x' }] })],
    ['a reference to what is round it', withField({ type: 'array', items: { $ref: '#' } })],
    ['dependencies of names', withField({ dependencies: { b: ['c'], d: { required: ['e'] } } })],
    ['a regular expression', withField({ pattern: /^a$/ })],
  ])('A usable schema can have %s', (_, schema) => {
    expect(messageOf(schema)).toBe('no error')
  })
})

describe('the input of a tool', () => {
  const object = { type: 'object' }

  it.each<[string, unknown]>([
    ['an object', object],
    ['a list of that one type', { type: ['object'] }],
    ['a union', { anyOf: [object, { oneOf: [object, object] }] }],
    ['an intersection', { allOf: [{ description: 'x' }, object] }],
    ['a reference', { $defs: { A: object }, $ref: '#/$defs/A' }],
    ['a union of references', { $defs: { A: object }, anyOf: [{ $ref: '#/$defs/A' }, object] }],
    ['a cyclic type', Type.Cyclic({ A: Type.Object({ a: Type.Optional(Type.Ref('A')) }) }, 'A')],
  ])('The input of a tool can be %s', (_, schema) => {
    expect(messageOf(schema)).toBe('no error')
  })

  it.each<[string, unknown]>([
    ['text', Type.String()],
    ['anything', {}],
    ['an object or null', { type: ['object', 'null'] }],
    ['a union with something else', { anyOf: [object, { type: 'string' }] }],
    ['an empty union', { anyOf: [] }],
    ['a list', Type.Array(Type.Object({}))],
    ['fields without the type', { properties: { a: {} } }],
    ['a boolean', true],
  ])('The input of a tool cannot be %s', (_, schema) => {
    expect(messageOf(schema)).toMatch(
      /^Cannot define tool "x": input must be a schema of an object such as Type\.Object\(\{…\}\), got /,
    )
  })
})

describe('findObjectFaults', () => {
  it('findObjectFaults terminates for a library whose unions refer to themselves', () => {
    const schema = { $ref: '#/$defs/A', $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }] } } }
    expect(findObjectFaults(createSchemaDocument(schema))).toHaveLength(1)
  })
})

describe('a default', () => {
  it.each<[string, unknown, string]>([
    ['has another type', Type.Integer({ default: 'x' }), '"x"'],
    ['is beyond a bound', Type.Integer({ maximum: 7, default: 9 }), '9'],
    ['would have to be mended', Type.Integer({ default: '9' }), '"9"'],
    ['lacks a field', Type.Object({ b: Type.String() }, { default: {} }), '{}'],
    [
      'has an unknown field where none may be',
      Type.Object({}, { additionalProperties: false, default: { c: 1 } }),
      '{"c":1}',
    ],
    ['is of no member', { anyOf: [{ type: 'string' }, { type: 'null' }], default: 1 }, '1'],
  ])('A schema default that %s is rejected at definition', (_, part, shown) => {
    expect(messageOf(withField(part))).toBe(
      `Cannot define tool "x": input /properties/a/default must match its schema, got ${shown}`,
    )
  })

  it('A schema default that is not a JSON value is rejected', () => {
    const part = Type.Unknown({ default: { run: () => 1 } })
    expect(messageOf(withField(part))).toMatch(
      /\/default must be a JSON value that matches its schema/,
    )
  })

  it('A schema default is accepted when it matches its reference, or once its nested defaults are filled in', () => {
    const schema = {
      ...withField({ $ref: '#/$defs/A', default: 3 }),
      $defs: { A: { type: 'integer' } },
    }
    expect(messageOf(schema)).toBe('no error')
    const nested = Type.Object({ n: Type.Integer({ default: 1 }) }, { default: {} })
    expect(messageOf(withField(nested))).toBe('no error')
  })
})

describe('compileOrThrow', () => {
  it('compileOrThrow names the schema that cannot be compiled, and the reason', () => {
    const fail = (): never => {
      throw new Error('no room')
    }
    expect(() => compileOrThrow({ action: 'Cannot do:', ofObject: false }, fail)).toThrow(
      new TypeError('Cannot do: cannot be compiled: no room'),
    )
  })
})

describe('openUsableSchema', () => {
  it('openUsableSchema does not modify the schema', () => {
    const schema = Object.freeze(withField(Object.freeze({ type: 'integer', default: 1 })))
    expect(openUsableSchema(schema, { action: '', ofObject: true }).root).toBe(schema)
  })
})

describe('a boolean schema', () => {
  it.each([true, false])('A boolean schema is refused for an output: %s', (schema) => {
    // JavaScript callers can pass any value.
    const create = (): unknown => createOutputReader(schema as never, { toolName: 'x' })
    expect(create).toThrow(
      new TypeError(
        'Cannot define tool "x": output must be a schema object, got a boolean; Type.Unknown() allows any value',
      ),
    )
  })
})
