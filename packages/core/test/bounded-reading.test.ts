/** Reading of any value by any schema takes a bounded amount of work: coercion, unions, defaults, descriptions of problems. */
import { isJsonObject } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { defineTool, runTool, toModelText } from '../src/index.ts'

import type { TSchema } from 'typebox'

import { processorTimer } from '../../../tooling/test-kit/processor-time.ts'

interface Outcome {
  readonly success: boolean
  readonly text: string
  readonly processorMs: number
}

/** Calls a tool that returns its input, with JSON text as a model sends it. */
async function call(input: TSchema, value: unknown): Promise<Outcome> {
  const tool = defineTool({
    name: 't',
    description: 'd',
    input,
    execute: (given) => JSON.stringify(given),
  })
  const processorMs = processorTimer()
  const { result } = await runTool(tool, {
    id: 'a',
    name: 't',
    arguments: JSON.stringify(value),
  })
  return {
    success: result.success,
    text: toModelText(result),
    processorMs: processorMs(),
  }
}

function nestedUnions(levels: number): TSchema {
  const $defs: Record<string, unknown> = {
    D0: { type: 'object', properties: { v: { type: 'string' } }, required: ['v'] },
  }
  for (let level = 1; level <= levels; level += 1) {
    const a = { $ref: `#/$defs/D${level - 1}` }
    $defs[`D${level}`] = {
      anyOf: [{ p: { type: 'string' } }, { q: { type: 'number' } }].map((more) => ({
        type: 'object',
        properties: { a, ...more },
        required: ['a'],
      })),
    }
  }
  const x = { $ref: `#/$defs/D${levels}` }
  return { type: 'object', properties: { x }, required: ['x'], $defs }
}

function nest(levels: number, wrap: (inner: unknown) => unknown, inner: unknown): unknown {
  return levels === 0 ? inner : wrap(nest(levels - 1, wrap, inner))
}

const fields = (a: unknown): unknown => ({ a, zz: 1 })

describe('reading', () => {
  it.each([12, 16, 60])(
    'The reader of a value ends for a wrong value of %i nested unions',
    async (levels) => {
      const { success, text, processorMs } = await call(nestedUnions(levels), {
        x: nest(levels, fields, { w: 1 }),
      })
      expect(success).toBe(false)
      expect(text).toContain(`/x${'/a'.repeat(levels)}/v is required`)
      expect(processorMs).toBeLessThan(2_000)
    },
  )

  it('The reader of a value drops unknown fields and reads nested JSON text in nested unions', async () => {
    const levels = 40
    const value = nest(levels, fields, { v: 'x', w: 1 })
    const text = nest(6, (inner) => JSON.stringify({ a: inner }), { v: 'x' })
    const plain = nest(levels, (a) => ({ a }), { v: 'x' })
    expect(await call(nestedUnions(levels), { x: value })).toMatchObject({
      success: true,
      text: JSON.stringify({ x: plain }),
    })
    const read = await call(nestedUnions(6), { x: text })
    expect(read.text).toBe(JSON.stringify({ x: nest(6, (a) => ({ a }), { v: 'x' }) }))
    expect(read.processorMs).toBeLessThan(2_000)
  })

  it('[CORE-J5] The reader of a value refuses a value that needs too many steps, with that reason', async () => {
    const members = Array.from({ length: 300 }, (_, index) => ({
      type: 'object',
      properties: { [`k${index}`]: { const: 1 } },
      required: [`k${index}`],
    }))
    const { success, text, processorMs } = await call(
      { type: 'object', properties: { x: { type: 'array', items: { anyOf: members } } } },
      { x: Array.from({ length: 10_000 }, () => ({ k299: 1, z: 1 })) },
    )
    expect(success).toBe(false)
    expect(text).toContain('cannot be checked: the check needs more than 600000 steps')
    expect(processorMs).toBeLessThan(4_000)
  })

  it.each<[string, unknown, unknown, string]>([
    ['2,000 values of an enum', { enum: names(2_000) }, 'v1999', '"v1999"'],
    [
      '4,000 literals',
      { anyOf: names(4_000).map((value) => ({ const: value })) },
      'v3999',
      '"v3999"',
    ],
    [
      '4,000 fields',
      {
        type: 'object',
        properties: Object.fromEntries(names(4_000).map((name) => [name, { type: 'integer' }])),
      },
      { v3999: '1', z: 1 },
      '{"v3999":1}',
    ],
  ])('The reader of a value works with %s', async (_, x, value, expected) => {
    expect(await call({ type: 'object', properties: { x } }, { x: value })).toMatchObject({
      success: true,
      text: `{"x":${expected}}`,
    })
  })

  it('The reader of a value refuses a schema whose defaults contain too many others', () => {
    const $defs: Record<string, unknown> = { D0: { type: 'object', default: {} } }
    for (let level = 1; level < 40; level += 1) {
      const part = { $ref: `#/$defs/D${level - 1}` }
      $defs[`D${level}`] = { type: 'object', default: {}, properties: { l: part, r: part } }
    }
    expect(() =>
      defineTool({
        name: 't',
        description: 'd',
        input: { type: 'object', properties: { x: { $ref: '#/$defs/D39' } }, $defs },
        execute: () => '',
      }),
    ).toThrow('the check needs more than 600000 steps')
  })
})

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `v${index}`)
}

const withField = (field: string, type: string, more: object = {}): object => ({
  type: 'object',
  properties: { [field]: { type } },
  required: [field],
  ...more,
})

describe('a value that matches several members of a union', () => {
  it.each<[string, object, object, object?]>([
    [
      'two members',
      { anyOf: [withField('email', 'string'), withField('phone', 'string')] },
      { email: 'a', phone: '1' },
    ],
    [
      'three members',
      {
        anyOf: [withField('a', 'string'), withField('b', 'string'), withField('c', 'string')],
      },
      { a: '1', b: '2', c: '3' },
    ],
    [
      'members of a nested union',
      {
        properties: {
          to: { anyOf: [withField('email', 'string'), withField('phone', 'string')] },
        },
      },
      { to: { email: 'a', phone: '1' } },
    ],
    [
      'nested objects of the members',
      {
        anyOf: [
          { properties: { to: withField('email', 'string') }, required: ['to'] },
          { properties: { to: withField('phone', 'string') }, required: ['to'] },
        ],
      },
      { to: { email: 'a', phone: '1' } },
    ],
    [
      'members that match once values are coerced',
      { anyOf: [withField('a', 'integer'), withField('b', 'integer')] },
      { a: '1', b: '2' },
      { a: 1, b: 2 },
    ],
    [
      'members and an unknown field',
      { anyOf: [withField('email', 'string'), withField('phone', 'string')] },
      { email: 'a', phone: '1', z: 1 },
      { email: 'a', phone: '1' },
    ],
    [
      'a member that does not match',
      { anyOf: [withField('a', 'string'), withField('b', 'boolean')] },
      { a: 'x', b: 'text' },
      { a: 'x' },
    ],
    [
      'closed members, which it matches only one at a time',
      {
        anyOf: [
          withField('a', 'string', { additionalProperties: false }),
          withField('b', 'string', { additionalProperties: false }),
        ],
      },
      { a: 'x', b: 'y' },
      { a: 'x' },
    ],
  ])(
    '[CORE-U3] A value that matches several members of a union keeps every field that a matching member declares: %s',
    async (_, part, value, expected) => {
      const { success, text } = await call({ type: 'object', ...part }, value)
      expect(success).toBe(true)
      const parsed: unknown = JSON.parse(text)
      expect(isJsonObject(parsed)).toBe(true)
      expect(parsed).toEqual(expected ?? value)
    },
  )
})
