import { describe, expect, it } from 'vitest'

import { createFormDraft, setDraftJson, checkDraft } from './form-draft.ts'
import { createInitialValue, createItem, fillDefaults } from './initial-value.ts'
import { parseNumber } from './number-input.tsx'
import { toLocalDateTime, toUtcInstant } from './leaf-field.tsx'

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    flag: { type: 'boolean' },
    size: { type: 'integer', default: 3 },
    kind: { const: 'k' },
    list: { type: 'array', items: { type: 'string' }, minItems: 2 },
    inner: { $ref: '#/$defs/Inner' },
    choice: { anyOf: [{ const: 'a' }, { const: 'b' }] },
    union: { anyOf: [{ type: 'boolean' }, { type: 'string' }] },
    left: { type: 'boolean' },
    leftDefault: { type: 'integer', default: 1 },
  },
  required: ['text', 'flag', 'size', 'kind', 'list', 'inner', 'choice', 'union'],
  $defs: { Inner: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] } },
}

describe('createInitialValue', () => {
  it('createInitialValue contains the required fields that follow from the schema', () => {
    expect(createInitialValue(schema, schema)).toEqual({
      flag: false,
      size: 3,
      kind: 'k',
      list: ['', ''],
      inner: { on: false },
      union: false,
    })
  })

  it('createInitialValue ends for a recursive schema', () => {
    const loop = {
      $defs: { L: { type: 'object', properties: { l: { $ref: '#/$defs/L' } }, required: ['l'] } },
      $ref: '#/$defs/L',
    }
    expect(JSON.stringify(createInitialValue(loop, loop)).length).toBeLessThan(200)
  })

  it('createInitialValue is empty for an item that the reader must enter', () => {
    expect(createItem({ type: 'string' }, schema)).toBe('')
    expect(createItem({ type: 'number' }, schema)).toBeNull()
    expect(createItem({ $ref: '#/$defs/Inner' }, schema)).toEqual({ on: false })
  })
})

describe('checkDraft', () => {
  it('checkDraft fills in the defaults of absent fields at any depth, as a server does', () => {
    const nested = {
      type: 'object',
      properties: {
        in: {
          type: 'array',
          items: {
            type: 'object',
            properties: { n: { type: 'integer', default: 1 } },
            required: ['n'],
          },
        },
      },
    }
    expect(fillDefaults(nested, { in: [{}] }, nested)).toEqual({ in: [{ n: 1 }] })
    expect(checkDraft(nested, createFormDraft({ in: [{}] }))).toEqual({
      problems: [],
      unchecked: undefined,
    })
  })

  it('checkDraft reports an invalid text, without further problems at its place', () => {
    const draft = setDraftJson(createFormDraft({ text: 5 }), '/inner', '{')
    const { problems } = checkDraft(schema, draft)
    const paths = problems.map(({ path }) => path)
    expect(paths.filter((path) => path === '/inner')).toHaveLength(1)
    expect(paths).toEqual(expect.arrayContaining(['/inner', '/text', '/flag']))
  })

  it('checkDraft reports that a schema cannot be compiled', () => {
    const broken = { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }
    expect(checkDraft(broken, createFormDraft({ a: 'x' })).unchecked).toMatch(/regular expression/i)
  })
})

describe('typed text', () => {
  it.each([
    ['', undefined],
    [' ', undefined],
    ['5', 5],
    [' 1.50 ', 1.5],
    ['-1e3', -1000],
    ['five', 'five'],
    ['1e999', '1e999'],
  ])('Typed text is parsed as a number: %j', (text, number) => {
    expect(parseNumber(text)).toBe(number)
  })

  it('Typed text is stored in UTC as a date and time, and shown in local time', () => {
    for (const local of ['2026-01-31T23:59:59', '2026-07-01T00:00:00']) {
      expect(toUtcInstant(local)).toMatch(/Z$/)
      expect(toLocalDateTime(toUtcInstant(local))).toBe(local)
      expect(Date.parse(toUtcInstant(local))).toBe(new Date(local).getTime())
    }
    expect(toLocalDateTime('2026-01-01T00:00:00+02:00')).toBeUndefined()
    expect(toLocalDateTime('2026-01-01T00:00:00.123Z')).toBeUndefined()
    expect(toLocalDateTime('soon')).toBeUndefined()
    expect([toLocalDateTime(''), toUtcInstant('')]).toEqual(['', ''])
  })
})
