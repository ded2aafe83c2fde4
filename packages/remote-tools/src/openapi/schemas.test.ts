import { describe, expect, it } from 'vitest'

import { adaptForeignSchema } from '../schema/foreign-schema.ts'
import { asObject, OpenApiReader } from './document.ts'
import { MAX_DEFINITIONS_LENGTH, Schemas, type Direction } from './schemas.ts'

function convert(
  schema: unknown,
  {
    schemas = {},
    version = '3.0.3',
    direction = 'input',
  }: { schemas?: object; version?: string; direction?: Direction } = {},
): unknown {
  const document = new OpenApiReader({ openapi: version, components: { schemas } })
  return new Schemas(document).standalone(schema, direction)
}

const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe('[REMOTE-K1] a keyword of OpenAPI 3.0', () => {
  it.each([
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [{ type: 'string', nullable: false }, { type: 'string' }],
    [
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      { nullable: true, allOf: [{ type: 'string' }], description: 'A' },
      { description: 'A', anyOf: [{ allOf: [{ type: 'string' }] }, { type: 'null' }] },
    ],
    [{ nullable: true }, {}],
    [{ minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    [{ maximum: 1, exclusiveMaximum: true }, { exclusiveMaximum: 1 }],
    [{ minimum: 1, exclusiveMinimum: false }, { minimum: 1 }],
    [{ exclusiveMinimum: true }, {}],
    [{ exclusiveMinimum: 3 }, { exclusiveMinimum: 3 }],
    [
      { type: 'string', example: 'a' },
      { type: 'string', examples: ['a'] },
    ],
    [
      { type: 'object', 'x-go': 1, xml: {}, discriminator: {}, externalDocs: {} },
      { type: 'object' },
    ],
  ])('A keyword of OpenAPI 3.0 becomes JSON Schema: %j', (schema, expected) => {
    expect(convert(schema)).toEqual(expected)
  })

  it('A keyword of OpenAPI 3.0 is converted at any depth', () => {
    const schema = {
      type: 'array',
      items: { properties: { a: { type: 'string', nullable: true } } },
    }
    expect(convert(schema)).toEqual({
      type: 'array',
      items: { properties: { a: { type: ['string', 'null'] } } },
    })
  })
})

describe('[REMOTE-K2] a default', () => {
  it('A default is described and not filled in', () => {
    expect(convert({ type: 'boolean', default: false, description: ' Private? ' })).toEqual({
      type: 'boolean',
      description: 'Private? (default: false)',
    })
    expect(convert({ type: 'integer', default: 30 })).toEqual({
      type: 'integer',
      description: '(default: 30)',
    })
    expect(convert({ type: 'string', default: 'x'.repeat(200) })).toEqual({ type: 'string' })
  })
})

describe('[REMOTE-K3] a keyword that cannot be checked', () => {
  it.each([
    [{ type: 'string', pattern: '(' }, { type: 'string' }],
    [{ type: 'file' }, {}],
    [{ type: ['string', 'any'] }, { type: 'string' }],
    [{ enum: [] }, {}],
    [{ required: true }, {}],
    [{ type: 'string', enum: Array.from({ length: 1001 }, (_, n) => `${n}`) }, { type: 'string' }],
    [{ minLength: '3' }, {}],
    [{ properties: [] }, {}],
    [{ items: 'x' }, {}],
    [{ type: 'integer', maximum: null }, { type: 'integer' }],
  ])('A keyword that cannot be checked is omitted: %#', (schema, expected) => {
    const root = { properties: { a: schema } }
    expect(adaptForeignSchema(asObject(convert(root))).jsonSchema).toEqual({
      properties: { a: expected },
    })
  })
})

describe('references', () => {
  it('[REMOTE-S1] References in an OpenAPI document become definitions, only those that are used, including recursive ones', () => {
    const schemas = {
      Tree: { type: 'object', properties: { kids: { type: 'array', items: to('Tree') } } },
      Leaf: { type: 'string' },
    }
    expect(convert(to('Tree'), { schemas })).toEqual({
      $ref: '#/$defs/Tree',
      $defs: {
        Tree: {
          type: 'object',
          properties: { kids: { type: 'array', items: { $ref: '#/$defs/Tree' } } },
        },
      },
    })
  })

  it('References in an OpenAPI document have valid and unique names', () => {
    const schemas = { 'a b': { type: 'string', properties: { a_b: { type: 'null' } } } }
    const schema = {
      allOf: [
        { $ref: '#/components/schemas/a%20b' },
        { $ref: '#/components/schemas/a b/properties/a_b' },
      ],
    }
    expect(convert(schema, { schemas })).toMatchObject({
      allOf: [{ $ref: '#/$defs/a_20b' }, { $ref: '#/$defs/a_b' }],
      $defs: { a_20b: { type: 'string' }, a_b: { type: 'null' } },
    })
    const twice = { allOf: [to('X'), { $ref: '#/components/schemas/Y/properties/X' }] }
    const others = { X: { type: 'string' }, Y: { properties: { X: { type: 'null' } } } }
    expect(convert(twice, { schemas: others })).toMatchObject({
      $defs: { X: { type: 'string' }, X_2: { type: 'null' } },
    })
  })

  it('References in an OpenAPI document ignore other keywords next to them in 3.0, except nullable', () => {
    const schemas = { A: { type: 'string' } }
    const beside = { ...to('A'), description: 'own', nullable: true }
    expect(convert({ items: beside }, { schemas })).toMatchObject({
      items: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] },
    })
    expect(convert({ items: beside }, { schemas, version: '3.1.0' })).toMatchObject({
      items: { $ref: '#/$defs/A', description: 'own' },
    })
  })

  it('References in an OpenAPI document are problems without a target or in another document', () => {
    expect(() => convert(to('Nope'))).toThrow('#/components/schemas/Nope is not in the document')
    expect(() => convert({ $ref: 'other.json#/A' })).toThrow('other.json#/A is in another document')
  })

  it('[REMOTE-S3] References in an OpenAPI document allow any value when there are too many definitions', () => {
    const long = 'x'.repeat(MAX_DEFINITIONS_LENGTH.output / 3)
    const schemas = Object.fromEntries(
      [1, 2, 3, 4].map((n) => [
        `D${n}`,
        { description: long, ...(n < 4 ? { items: to(`D${n + 1}`) } : {}) },
      ]),
    )
    const { $defs } = convert(to('D1'), { schemas, direction: 'output' }) as { $defs: object }
    expect(Object.keys($defs)).toEqual(['D1', 'D2', 'D3'])
    expect($defs).toMatchObject({ D2: { description: long }, D3: {} })
    expect(Reflect.get($defs, 'D3')).toEqual({})
  })
})

describe('[REMOTE-S2] one-way fields', () => {
  const schemas = { Id: { type: 'string', readOnly: true } }
  const schema = {
    type: 'object',
    required: ['id', 'at', 'name', 'password'],
    properties: {
      id: to('Id'),
      at: { type: 'string', readOnly: true },
      name: { type: 'string' },
      password: { type: 'string', writeOnly: true },
    },
  }

  it('One-way fields are not part of the input when the service sets them', () => {
    expect(convert(schema, { schemas })).toEqual({
      type: 'object',
      required: ['name', 'password'],
      properties: { name: { type: 'string' }, password: { type: 'string' } },
    })
  })

  it('One-way fields are not required in the output when the service does not return them', () => {
    expect(convert(schema, { schemas, direction: 'output' })).toMatchObject({
      required: ['id', 'at', 'name'],
      properties: { password: { type: 'string' } },
    })
  })
})

describe('[REMOTE-S4] oneOf', () => {
  it('oneOf becomes anyOf, also next to another anyOf', () => {
    const one = [{ type: 'string', nullable: true }]
    expect(convert({ oneOf: one })).toEqual({ anyOf: [{ type: ['string', 'null'] }] })
    expect(convert({ oneOf: one, anyOf: [{ type: 'null' }] })).toEqual({
      anyOf: [{ type: 'null' }],
      allOf: [{ anyOf: [{ type: ['string', 'null'] }] }],
    })
  })
})

describe('a document', () => {
  it.each([
    [{ swagger: '2.0' }, 'got Swagger 2.0'],
    [{ openapi: '3.2.0' }, 'got "3.2.0"'],
    [{ openapi: '2' }, 'got "2"'],
    [{}, 'got undefined'],
    ['text', 'got undefined'],
    [null, 'got undefined'],
  ])('An OpenAPI document is rejected when it is invalid: %j', (value, message) => {
    expect(() => new OpenApiReader(value)).toThrow(message)
  })
})

describe('[REMOTE-S5] a discriminator', () => {
  const animal = (field: string, kind: object = { type: 'string' }): object => ({
    type: 'object',
    properties: { kind, [field]: { type: 'string' } },
    required: ['kind'],
  })
  const tag = (...values: readonly string[]): object => ({
    type: 'object',
    properties: { kind: { type: 'string', enum: values } },
    required: ['kind'],
  })

  it.each<[string, object | undefined, string[], string[]]>([
    ['by reference', { cat: '#/components/schemas/Cat', dog: to('Dog').$ref }, ['cat'], ['dog']],
    ['by name', { cat: 'Cat', dog: 'Dog' }, ['cat'], ['dog']],
    ['with two values', { cat: 'Cat', kitten: 'Cat', dog: 'Dog' }, ['cat', 'kitten'], ['dog']],
    ['for one member only', { cat: 'Cat' }, ['cat'], ['Dog']],
    ['without a mapping', undefined, ['Cat'], ['Dog']],
  ])('A discriminator becomes fixed values of the members: %s', (_, mapping, cats, dogs) => {
    const schemas = { Cat: animal('lives'), Dog: animal('bark') }
    const discriminator = { propertyName: 'kind', ...(mapping === undefined ? {} : { mapping }) }
    expect(convert({ oneOf: [to('Cat'), to('Dog')], discriminator }, { schemas })).toMatchObject({
      anyOf: [
        { allOf: [tag(...cats), { $ref: '#/$defs/Cat' }] },
        { allOf: [tag(...dogs), { $ref: '#/$defs/Dog' }] },
      ],
    })
  })

  it('A discriminator leaves members alone that have no name or fix the values themselves', () => {
    const schemas = {
      Cat: { allOf: [animal('lives', { type: 'string', enum: ['tom'] })] },
      Loop: { allOf: [to('Loop')], properties: {} },
    }
    const inline = animal('x')
    const discriminator = { propertyName: 'kind' }
    expect(
      convert({ anyOf: [to('Cat'), inline, to('Loop')], discriminator }, { schemas }),
    ).toMatchObject({
      anyOf: [{ $ref: '#/$defs/Cat' }, inline, { allOf: [tag('Loop'), { $ref: '#/$defs/Loop' }] }],
    })
  })
})
