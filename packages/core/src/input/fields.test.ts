import { CheckRun, type Schema } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { createSchemaDocument } from './schema-document.ts'
import { listDeclaredFields, findFieldSchemas, isRequired, findItemSchemas } from './fields.ts'

import type { SchemaNode } from '@tutti/protocol/internal'

const text = { type: 'string' }
const whole = { type: 'integer' }

const document = createSchemaDocument({})

function fieldSchemas(nodes: readonly SchemaNode[], key: string): readonly Schema[] | undefined {
  return findFieldSchemas(nodes, key, { document, run: new CheckRun() })
}

describe('findFieldSchemas', () => {
  it.each<[string, SchemaNode[], readonly unknown[] | undefined]>([
    ['one that is declared', [{ properties: { a: text } }], [text]],
    ['one of any value', [{ properties: { a: true } }], []],
    ['one of a pattern', [{ patternProperties: { '^a': text, b: whole } }], [text]],
    ['one of both', [{ properties: { a: whole }, patternProperties: { a: text } }], [whole, text]],
    ['one that is required only', [{ properties: {}, required: ['a'] }], []],
    ['one of the rest', [{ properties: {}, additionalProperties: text }], [text]],
    ['one of an open rest', [{ properties: {}, additionalProperties: true }], []],
    ['one of what is left', [{ properties: {}, unevaluatedProperties: text }], [text]],
    ['one that another part declares', [{ properties: {} }, { properties: { a: text } }], [text]],
    [
      'one that two parts declare',
      [{ properties: { a: whole } }, { properties: { a: text } }],
      [whole, text],
    ],
    [
      'one that a closed part does not have and another part has',
      [{ properties: {}, additionalProperties: false }, { properties: { a: text } }],
      [text],
    ],
  ])('[CORE-F1] findFieldSchemas knows %s', (_, nodes, schemas) => {
    expect(fieldSchemas(nodes, 'a')).toEqual(schemas)
  })

  it.each<[string, SchemaNode[]]>([
    ['among others', [{ properties: { b: text } }]],
    ['among none', [{ properties: {} }]],
    ['that no pattern has', [{ patternProperties: { b: text } }]],
    ['of an object that is closed', [{ additionalProperties: false }]],
    ['of an object whose rest is closed', [{ properties: {}, unevaluatedProperties: false }]],
  ])('[CORE-F1] findFieldSchemas does not know one %s', (_, nodes) => {
    expect(fieldSchemas(nodes, 'a')).toBeUndefined()
  })

  it('[CORE-F2] findFieldSchemas knows every field where no schema declares fields', () => {
    expect(fieldSchemas([{ type: 'object' }], 'a')).toEqual([])
    expect(fieldSchemas([], 'a')).toEqual([])
  })

  it.each(['__proto__', 'constructor', 'toString'])(
    'findFieldSchemas does not confuse %s with an inherited property',
    (key) => {
      expect(fieldSchemas([{ properties: { a: text } }], key)).toBeUndefined()
      const declared = { properties: JSON.parse(`{"${key}":{"type":"string"}}`) }
      expect(fieldSchemas([declared], key)).toEqual([text])
    },
  )
})

describe('isRequired and listDeclaredFields', () => {
  it('isRequired and listDeclaredFields combine all parts', () => {
    const nodes = [
      { properties: { a: text }, required: ['a'] },
      { properties: { b: text, a: whole } },
    ]
    expect(listDeclaredFields(nodes)).toEqual(['a', 'b'])
    expect(['a', 'b', 'c'].map((key) => isRequired(nodes, key))).toEqual([true, false, false])
  })
})

describe('findItemSchemas', () => {
  it('findItemSchemas returns the schema of a tuple position and of the rest, in both dialects', () => {
    for (const tuple of [
      { prefixItems: [text], items: whole },
      { items: [text], additionalItems: whole },
    ]) {
      expect([0, 1, 2].map((index) => findItemSchemas([tuple], index))).toEqual([
        [text],
        [whole],
        [whole],
      ])
    }
    expect(findItemSchemas([{ items: [text] }], 1)).toEqual([])
  })

  it('findItemSchemas combines all parts', () => {
    expect(findItemSchemas([{ items: text }, {}, { items: whole }], 0)).toEqual([text, whole])
  })
})
