import { describe, expect, it } from 'vitest'

import { processorTimer } from '../../../../tooling/test-kit/processor-time.ts'

import { createInputReader, createOutputReader } from './input-reader.ts'
import { foreignSchema } from './foreign-schema.ts'
import { schemaReader } from './schema-reader.ts'

const slow = '^(a+)+$'
const text = `${'a'.repeat(60)}!`

describe('foreignSchema', () => {
  it.each<[string, object, unknown, unknown]>([
    [
      'a pattern',
      { properties: { a: { type: 'string', pattern: slow } } },
      { a: text },
      { a: 'aa' },
    ],
    [
      'a pattern of names',
      { patternProperties: { [slow]: { type: 'string' } }, additionalProperties: { type: 'null' } },
      { [text]: 'b' },
      { aa: 'b' },
    ],
    ['names of fields', { propertyNames: { pattern: slow } }, { [text]: 1 }, { aa: 1 }],
    [
      'a union',
      { anyOf: [{ properties: { a: { pattern: slow } } }, { required: ['b'] }] },
      { a: text },
      { a: 'aa' },
    ],
  ])(
    '[CORE-X1] foreignSchema gives checks that a pattern cannot block: %s',
    async (_, part, invalid, valid) => {
      const { schema, warnings } = foreignSchema({ type: 'object', ...part })
      const input = createInputReader(schema, { toolName: 't' })
      const output = createOutputReader(schema, { toolName: 't' })
      const answer = schemaReader(schema, { action: 'Cannot read:' })
      const processorMs = processorTimer()
      for (const { read } of [input, output, answer]) {
        expect(await read(invalid)).toMatchObject({ ok: false })
        expect(await read(valid)).toEqual({ ok: true, value: valid })
      }
      expect(processorMs()).toBeLessThan(2_000)
      expect(warnings).toEqual([])
    },
  )

  it('[CORE-X1] foreignSchema drops unknown fields by a pattern of names that cannot block', async () => {
    const { schema } = foreignSchema({ type: 'object', patternProperties: { [slow]: {} } })
    const { read } = createInputReader(schema, { toolName: 't' })
    expect(await read({ [text]: 1, aa: 2 })).toEqual({ ok: true, value: { aa: 2 } })
  })

  it('[CORE-X1] foreignSchema validates as a Standard Schema too', async () => {
    const { schema } = foreignSchema({ type: 'string', pattern: slow })
    const { validate } = schema['~standard']
    expect(await validate('aa')).toEqual({ value: 'aa' })
    expect(await validate(text)).toMatchObject({ issues: [{ message: /matches/ }] })
  })

  it('[CORE-X2] foreignSchema leaves out patterns that need backtracking, and names them', () => {
    const given = {
      type: 'object',
      properties: {
        a: { type: 'string', pattern: '^(?=x)', maxLength: 5 },
        b: { items: { pattern: '(a)\\1' } },
        c: { pattern: '^https\\:\\/\\/' },
      },
      patternProperties: { '(?<!a)b': {}, '^x': { type: 'integer' } },
      additionalProperties: false,
    }
    const before = JSON.stringify(given)
    const { jsonSchema, warnings } = foreignSchema(given)
    expect(JSON.stringify(given)).toBe(before)
    expect(warnings.toSorted()).toEqual([
      '/patternProperties/(?<!a)b is not checked: "(?<!a)b" uses lookahead or lookbehind',
      '/properties/a/pattern is not checked: "^(?=x)" uses lookahead or lookbehind',
      '/properties/b/items/pattern is not checked: "(a)\\\\1" refers to a group',
    ])
    expect(jsonSchema).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', maxLength: 5 },
        b: { items: {} },
        c: { pattern: '^https\\:\\/\\/' },
      },
      patternProperties: { '^x': { type: 'integer' } },
    })
  })

  it('[CORE-X3] foreignSchema keeps names that look like keywords, and values of fixed ones', () => {
    const given = {
      properties: { pattern: { type: 'string' }, x: { const: { pattern: '(?=a)' } } },
      definitions: { n: { dependencies: { a: ['b'] }, additionalItems: false, items: [{}] } },
    }
    const { jsonSchema, warnings } = foreignSchema(given)
    expect(jsonSchema).toEqual(given)
    expect(warnings).toEqual([])
  })

  it('[CORE-X3] foreignSchema lists other problems where the schema is used', () => {
    const { schema } = foreignSchema({ type: 'object', properties: { a: { $ref: '#/b' } } })
    expect(() => createInputReader(schema, { toolName: 't' })).toThrow(
      'Cannot define tool "t": input /properties/a/$ref must lead to a schema in the same document',
    )
  })
})
