import { describe, expect, it } from 'vitest'

import { draftOf, withJson, checkDraft } from './form-draft.ts'
import { initialValue, newItem, withDefaults } from './initial-value.ts'
import { numberFrom } from './number-input.tsx'
import { localOf, utcOf } from './leaf-field.tsx'

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

describe('what a form begins with', () => {
  it('is what is required and follows from the schema', () => {
    expect(initialValue(schema, schema)).toEqual({
      flag: false,
      size: 3,
      kind: 'k',
      list: ['', ''],
      inner: { on: false },
      union: false,
    })
  })

  it('ends for a schema that asks for itself', () => {
    const loop = {
      $defs: { L: { type: 'object', properties: { l: { $ref: '#/$defs/L' } }, required: ['l'] } },
      $ref: '#/$defs/L',
    }
    expect(JSON.stringify(initialValue(loop, loop)).length).toBeLessThan(200)
  })

  it('is an empty place for an item', () => {
    expect(newItem({ type: 'string' }, schema)).toBe('')
    expect(newItem({ type: 'number' }, schema)).toBeNull()
    expect(newItem({ $ref: '#/$defs/Inner' }, schema)).toEqual({ on: false })
  })
})

describe('a check of a draft', () => {
  it('takes defaults for fields that are left out, as a server does, at any depth', () => {
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
    expect(withDefaults(nested, { in: [{}] }, nested)).toEqual({ in: [{ n: 1 }] })
    expect(checkDraft(nested, draftOf({ in: [{}] }))).toEqual({
      problems: [],
      unchecked: undefined,
    })
  })

  it('tells a text that cannot be read, and nothing else of its place', () => {
    const draft = withJson(draftOf({ text: 5 }), '/inner', '{')
    const { problems } = checkDraft(schema, draft)
    const paths = problems.map(({ path }) => path)
    expect(paths.filter((path) => path === '/inner')).toHaveLength(1)
    expect(paths).toEqual(expect.arrayContaining(['/inner', '/text', '/flag']))
  })

  it('says when a schema cannot be used', () => {
    const broken = { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }
    expect(checkDraft(broken, draftOf({ a: 'x' })).unchecked).toMatch(/regular expression/i)
  })
})

describe('what is typed', () => {
  it.each([
    ['', undefined],
    [' ', undefined],
    ['5', 5],
    [' 1.50 ', 1.5],
    ['-1e3', -1000],
    ['five', 'five'],
    ['1e999', '1e999'],
  ])('as a number: %j', (text, number) => {
    expect(numberFrom(text)).toBe(number)
  })

  it('as a date and time is kept in UTC, and shown as it was typed', () => {
    for (const local of ['2026-01-31T23:59:59', '2026-07-01T00:00:00']) {
      expect(utcOf(local)).toMatch(/Z$/)
      expect(localOf(utcOf(local))).toBe(local)
      expect(Date.parse(utcOf(local))).toBe(new Date(local).getTime())
    }
    expect(localOf('2026-01-01T00:00:00+02:00')).toBeUndefined()
    expect(localOf('2026-01-01T00:00:00.123Z')).toBeUndefined()
    expect(localOf('soon')).toBeUndefined()
    expect([localOf(''), utcOf('')]).toEqual(['', ''])
  })
})
