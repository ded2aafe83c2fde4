import { describe, expect, it } from 'vitest'

import { listFields, createFormField, type FormField } from './form-model.ts'

/** Returns the field of a property of an object. */
function fieldOf(schema: object, value?: unknown, root: object = {}): FormField {
  const whole = {
    ...root,
    type: 'object',
    properties: { it: schema },
  }
  const form = createFormField({ schema: whole, value: value === undefined ? {} : { it: value } })
  const [field] = form.kind === 'object' ? form.fields : []
  if (field === undefined) throw new Error('There is no field')
  return field
}

describe('createFormField', () => {
  it.each<[string, object, object]>([
    ['text', { type: 'string' }, { kind: 'text', input: 'area' }],
    ['short text', { type: 'string', maxLength: 20 }, { kind: 'text', input: 'text' }],
    ['text of a form', { type: 'string', pattern: '^a' }, { kind: 'text', input: 'text' }],
    ['long text', { type: 'string', format: 'multiline' }, { kind: 'text', input: 'area' }],
    ['a date', { type: 'string', format: 'date' }, { kind: 'text', input: 'date' }],
    ['an instant', { type: 'string', format: 'date-time' }, { kind: 'text', input: 'date-time' }],
    ['an address', { type: 'string', format: 'uri' }, { kind: 'text', input: 'url' }],
    ['mail', { type: 'string', format: 'email' }, { kind: 'text', input: 'email' }],
    ['a number', { type: 'number' }, { kind: 'number' }],
    ['an integer', { type: 'integer' }, { kind: 'number' }],
    ['yes or no', { type: 'boolean' }, { kind: 'boolean' }],
    ['a constant', { const: 3 }, { kind: 'constant', constant: 3 }],
    ['null', { type: 'null' }, { kind: 'constant', constant: null }],
    ['a choice', { enum: ['a', 1] }, { kind: 'choice', options: ['a', 1] }],
    [
      'constants to choose from',
      { anyOf: [{ const: 'a' }, { const: 'b' }] },
      { kind: 'choice', options: ['a', 'b'] },
    ],
    ['anything', {}, { kind: 'json', why: 'Any value is allowed' }],
    ['any object', { type: 'object' }, { kind: 'json', why: 'Any fields are allowed' }],
    [
      'texts under any keys',
      { type: 'object', additionalProperties: { type: 'string' } },
      { kind: 'map' },
    ],
    [
      'lists under any keys',
      { type: 'object', additionalProperties: { type: 'array' } },
      { kind: 'json' },
    ],
    ['several types', { type: ['string', 'number'] }, { kind: 'json' }],
    ['a tuple', { type: 'array', prefixItems: [{}] }, { kind: 'json' }],
    ['a list', { type: 'array', items: { type: 'string' } }, { kind: 'list', items: [] }],
    ['no fields', { type: 'object', additionalProperties: false }, { kind: 'object', fields: [] }],
    ['what does not resolve', { $ref: '#/$defs/none' }, { kind: 'json' }],
    ['a circle of references', { $ref: '#/properties/it' }, { kind: 'json' }],
  ])('createFormField creates a field for %s', (_, schema, shape) => {
    expect(fieldOf(schema)).toMatchObject({ ...shape, isRequired: false, isGiven: false })
  })

  it('createFormField follows references and applies the keywords next to them', () => {
    const root = { $defs: { Name: { type: 'string', maxLength: 9, description: 'A name' } } }
    const schema = { $ref: '#/$defs/Name', description: 'Whose' }
    expect(fieldOf(schema, undefined, root)).toMatchObject({ kind: 'text', description: 'Whose' })
    expect(fieldOf({ $ref: 'Name' }, undefined, root)).toMatchObject({ description: 'A name' })
  })

  it('createFormField merges the parts of allOf', () => {
    const schema = {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'number' } } },
      ],
    }
    const field = fieldOf(schema, {})
    expect(
      field.kind === 'object' && field.fields.map((one) => [one.label, one.isRequired]),
    ).toEqual([
      ['a', true],
      ['b', false],
    ])
    expect(fieldOf({ allOf: [{ type: 'string' }, { type: 'number' }] }).kind).toBe('json')
  })

  it.each([
    [{ type: ['string', 'null'] }, 'text'],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'number'],
    [{ oneOf: [{ type: 'null' }, { enum: ['a'] }] }, 'choice'],
    [{ type: ['string', 'null'], enum: ['a', null] }, 'choice'],
  ])('createFormField recognizes that null is allowed: %j', (schema, kind) => {
    expect(fieldOf(schema, null)).toMatchObject({ kind, isNullable: true, value: null })
    expect(fieldOf({ type: 'string' })).toMatchObject({ isNullable: false })
  })

  it('createFormField describes the constraints of the schema', () => {
    const schema = { type: 'integer', minimum: 1, maximum: 5, default: 3, title: 'Stars' }
    expect(fieldOf(schema)).toMatchObject({
      label: 'Stars',
      hint: 'a whole number, 1 to 5, default 3',
    })
    expect(fieldOf({ type: 'array', minItems: 1, uniqueItems: true }).hint).toBe(
      'at least 1 item, no duplicates',
    )
    expect(fieldOf({ type: 'string', pattern: '\\S' }).hint).toBeUndefined()
  })

  it.each([
    [{ minimum: -9007199254740991, maximum: 9007199254740991 }, 'a whole number'],
    [{ minimum: 1, maximum: 9007199254740991 }, 'a whole number, at least 1'],
    [{ exclusiveMinimum: 0, maximum: 9007199254740991 }, 'a whole number, more than 0'],
    [{ exclusiveMinimum: -9007199254740991 }, 'a whole number'],
  ])('createFormField omits the limits of safe integers: %j', (limits, hint) => {
    expect(fieldOf({ type: 'integer', ...limits }).hint).toBe(hint)
  })
})

it('createFormField creates a JSON field for an object with any keys if one of its values is not simple', () => {
  const schema = { type: 'object', additionalProperties: { type: ['string', 'number'] } }
  const texts = { type: 'object', additionalProperties: { type: 'string' } }
  expect(fieldOf(schema, { a: 'x' }).kind).toBe('json')
  expect(fieldOf(texts, { a: 'x', b: 1 }).kind).toBe('map')
  expect(fieldOf(texts, { a: { b: 'x' } }).kind).toBe('json')
  expect(fieldOf(texts, 'x').kind).toBe('json')
})

describe('a union', () => {
  const card = { type: 'object', properties: { kind: { const: 'card' }, no: { type: 'string' } } }
  const cash = { type: 'object', properties: { kind: { const: 'cash' } }, required: ['kind'] }
  const schema = { anyOf: [card, cash, { type: 'string' }] }

  it('A field for a union names its variants and selects the one that matches the value', () => {
    expect(fieldOf(schema, { kind: 'cash' })).toMatchObject({
      kind: 'union',
      variants: ['card', 'cash', 'text'],
      chosen: 1,
    })
    expect(fieldOf(schema, 'x')).toMatchObject({ chosen: 2, field: { kind: 'text' } })
    expect(fieldOf(schema, { kind: 'card', no: 5 })).toMatchObject({ chosen: 0 })
  })

  it('A field for a union selects by constant, even if other fields are missing', () => {
    const rich = { ...card, required: ['kind', 'no', 'holder', 'until'] }
    expect(fieldOf({ anyOf: [cash, rich] }, { kind: 'card' })).toMatchObject({ chosen: 1 })
  })

  it('A field for a union keeps the variant that the reader selected', () => {
    const whole = {
      type: 'object',
      properties: { it: { anyOf: [{ type: 'string' }, { type: 'string' }] } },
    }
    const form = createFormField({ schema: whole, value: { it: '' }, choices: { '/it': 1 } })
    expect(form).toMatchObject({ fields: [{ chosen: 1, variants: ['text (1)', 'text (2)'] }] })
  })
})

describe('[DASH-F1] every part of a value is in a field', () => {
  it('A form covers fields that the schema does not name, and lists', () => {
    const schema = {
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'object', properties: { a: {} } } } },
      required: ['list'],
    }
    const value = { list: [{ a: 1 }, {}], 'other/one': { deep: true } }
    const form = createFormField({ schema, value })
    expect(listFields(form).map(({ pointer }) => pointer)).toEqual([
      '',
      '/list',
      '/list/0',
      '/list/0/a',
      '/list/1',
      '/list/1/a',
      '/other~1one',
    ])
  })

  it('A form covers values of another type', () => {
    for (const value of ['x', 5, [1]]) {
      const whole = { type: 'object', properties: { a: { type: 'string' } } }
      expect(createFormField({ schema: whole, value })).toMatchObject({ kind: 'json', value })
    }
    expect(fieldOf({ type: 'array' }, 'x')).toMatchObject({ kind: 'json', value: 'x' })
  })
})

describe('[DASH-F3] a recursive schema', () => {
  const tree = {
    $defs: {
      Node: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          left: { $ref: '#/$defs/Node' },
          children: { type: 'array', items: { $ref: '#/$defs/Node' } },
        },
        required: ['name'],
      },
    },
    $ref: '#/$defs/Node',
  }

  it('A recursive schema ends where the value does', () => {
    const form = createFormField({ schema: tree, value: { name: 'a', left: { name: 'b' } } })
    expect(listFields(form).map(({ pointer }) => pointer)).toEqual([
      '',
      '/name',
      '/left',
      '/left/name',
      '/left/left',
      '/left/children',
      '/children',
    ])
  })

  it('A recursive schema ends at a maximum depth if its field is required', () => {
    const loop = {
      $defs: { L: { type: 'object', properties: { l: { $ref: '#/$defs/L' } }, required: ['l'] } },
      $ref: '#/$defs/L',
    }
    const all = listFields(createFormField({ schema: loop, value: {} }))
    expect(all.length).toBeLessThan(20)
    expect(all.at(-1)).toMatchObject({ kind: 'json', why: 'Nested too deeply for the form' })
  })
})
