/** Integers beyond 2^53 from a model to the body of a tool, and back. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { z } from 'zod'

import {
  defineTextTool,
  defineTool,
  runTool,
  toModelText,
  Type,
  type ApprovalRequest,
} from '../src/index.ts'
import { computeJsonDigest, formatExactJson, type ToolSchema } from '../src/internal.ts'

const ID = '725653563933458432'

interface Options {
  readonly coerce?: boolean
  readonly exactIntegers?: boolean
}

/** Calls a tool whose input has the field `a` with this schema, with the JSON text of its value. */
function call(field: unknown, text: string, options: Options = {}): Promise<string> {
  const schema = { type: 'object', properties: { a: field }, required: ['a'] }
  return callWith(schema, `{"a":${text}}`, options)
}

async function callWith(input: ToolSchema, text: string, options: Options = {}): Promise<string> {
  const tool = defineTool({
    name: 't',
    description: 'd',
    input,
    ...options,
    execute: (value) => show(value),
  })
  const { result } = await runTool(tool, { id: 'a', name: 't', arguments: text })
  return toModelText(result)
}

/** Returns a value as JSON, with the suffix `n` for a `bigint`. */
function show(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}

const RANGE = `between -9007199254740991 and 9007199254740991, got ${ID}; a tool can declare a string or BigInt for longer ones`

describe('[CORE-I1] [CORE-I2] [CORE-I3] a body gets an integer beyond 2^53', () => {
  it.each<[string, unknown, string, string]>([
    ['as text where the schema allows text', { type: 'string' }, ID, `"${ID}"`],
    [
      'as text where the schema allows text and numbers',
      { type: ['integer', 'string'] },
      ID,
      `"${ID}"`,
    ],
    ['as text in a union', { anyOf: [{ type: 'null' }, { type: 'string' }] }, ID, `"${ID}"`],
    [
      'as text in a list',
      { type: 'array', items: { type: 'string' } },
      `["x",${ID}]`,
      `["x","${ID}"]`,
    ],
    ['as text that matches a pattern', { type: 'string', pattern: '^\\d+$' }, ID, `"${ID}"`],
    ['as text where the schema allows any value', {}, ID, `"${ID}"`],
    ['as text within any value', {}, `[{"b":${ID}}]`, `[{"b":"${ID}"}]`],
    ['as text within an open object', { type: 'object' }, `{"b":${ID}}`, `{"b":"${ID}"}`],
    ['as a bigint', Type.BigInt(), ID, `"${ID}n"`],
    ['as a bigint, like shorter ones', Type.BigInt(), '5', '"5n"'],
    ['as a bigint from text', Type.BigInt(), `"${ID}"`, `"${ID}n"`],
    [
      'as a number that has the same digits',
      { type: 'integer' },
      '1764328628000000000',
      '1764328628000000000',
    ],
    [
      'as a number that has the same digits, in a union',
      { type: ['integer', 'string'] },
      '1000000000000000000',
      '1000000000000000000',
    ],
  ])('A body gets an integer beyond 2^53 %s', async (_, field, text, shown) => {
    expect(await call(field, text)).toBe(`{"a":${shown}}`)
    expect(await call(field, text, { coerce: text.startsWith('"') })).toBe(`{"a":${shown}}`)
  })

  it.each<[string, unknown, string, string]>([
    ['for an integer', { type: 'integer' }, ID, `must be an integer ${RANGE}`],
    ['for a number', { type: 'number' }, ID, `must be a number ${RANGE}`],
    [
      'for a union',
      { type: ['integer', 'null'] },
      ID,
      `must be an integer between -9007199254740991 and 9007199254740991 or null, got ${ID}; a tool can declare a string or BigInt for longer ones`,
    ],
    ['as text, for an integer', { type: 'integer' }, `"${ID}"`, `must be an integer, got "${ID}"`],
    ['for a boolean', { type: 'boolean' }, ID, `must be a boolean, got ${ID}`],
    ['for fixed values', { enum: [1, 2] }, ID, `must be one of 1, 2, got ${ID}`],
    [
      'that a double would round to a fixed value',
      { const: 9007199254740992 },
      '9007199254740993',
      'must be 9007199254740992, got 9007199254740993',
    ],
    [
      'for text that is too short',
      { type: 'string', maxLength: 5 },
      ID,
      `must be a string, got ${ID}`,
    ],
  ])(
    'A body gets an integer beyond 2^53, or refuses it with its digits: %s',
    async (_, field, text, problem) => {
      expect(await call(field, text)).toBe(`Error: Invalid input for "t": /a ${problem}`)
    },
  )

  it('A body gets an integer beyond 2^53 by the same rules with a schema of a library', async () => {
    const zod = (field: z.ZodType): ToolSchema => z.object({ a: field })
    expect(await callWith(zod(z.string()), `{"a":${ID}}`)).toBe(`{"a":"${ID}"}`)
    expect(await callWith(zod(z.any()), `{"a":${ID}}`)).toBe(`{"a":"${ID}"}`)
    expect(await callWith(zod(z.union([z.number(), z.string()])), `{"a":${ID}}`)).toBe(
      `{"a":"${ID}"}`,
    )
    expect(await callWith(zod(z.number()), '{"a":1000000000000000000}')).toBe(
      '{"a":1000000000000000000}',
    )
    expect(await callWith(zod(z.number()), `{"a":${ID}}`)).toContain(`got ${ID}`)
    const valibot = toStandardJsonSchema(v.object({ a: v.string(), b: v.unknown() }))
    expect(await callWith(valibot, `{"a":${ID},"b":[${ID}]}`)).toBe(`{"a":"${ID}","b":["${ID}"]}`)
    expect(
      await callWith(
        z.object({ a: z.string().refine(async (text) => Promise.resolve(text === ID)) }),
        `{"a":${ID}}`,
      ),
    ).toBe(`{"a":"${ID}"}`)
  })

  it('A body of a text tool gets an integer beyond 2^53 as text', async () => {
    const tool = defineTextTool({ name: 't', description: 'd', execute: (input) => input })
    for (const [text, shown] of [
      [`{"input":${ID}}`, ID],
      [ID, ID],
      [`{"input":{"id":[${ID}]}}`, `{"id":[${ID}]}`],
    ] as const) {
      const { result } = await runTool(tool, { id: 'a', name: 't', arguments: text })
      expect(result.output).toBe(shown)
    }
  })
})

describe('[CORE-I4] with exactIntegers, a body gets an integer beyond 2^53', () => {
  it.each<[string, unknown, string, string]>([
    ['as a bigint where the schema allows integers', { type: 'integer' }, ID, `"${ID}n"`],
    ['as a bigint where the schema allows numbers', { type: ['number', 'null'] }, ID, `"${ID}n"`],
    ['as a bigint where the schema allows any value', {}, `[${ID}]`, `["${ID}n"]`],
    ['as a bigint from text', { type: 'integer' }, `"${ID}"`, `"${ID}n"`],
    [
      'as a bigint from text in a list',
      { type: 'array', items: { type: 'integer' } },
      `[1,"${ID}"]`,
      `[1,"${ID}n"]`,
    ],
    [
      'as a bigint within limits',
      { type: 'integer', maximum: 2 ** 63 },
      '9223372036854775807',
      '"9223372036854775807n"',
    ],
    ['as text where the schema allows only text', { type: 'string' }, ID, `"${ID}"`],
    ['as text where the model wrote text', { type: ['integer', 'string'] }, `"${ID}"`, `"${ID}"`],
  ])('A body with exactIntegers gets an integer beyond 2^53 %s', async (_, field, text, shown) => {
    expect(await call(field, text, { exactIntegers: true })).toBe(`{"a":${shown}}`)
  })

  it.each<[string, unknown, string, string]>([
    [
      'above a maximum',
      { type: 'integer', maximum: 2 ** 63 },
      '9223372036854777857',
      'must be <= 9223372036854776000, got 9223372036854777857',
    ],
    ['for a boolean', { type: 'boolean' }, ID, `must be a boolean, got ${ID}`],
    [
      'as text that is no integer',
      { type: 'integer' },
      `"${ID}.5"`,
      `must be an integer, got "${ID}.5"`,
    ],
  ])(
    'A body with exactIntegers gets an integer beyond 2^53, or refuses it with its digits: %s',
    async (_, field, text, problem) => {
      expect(await call(field, text, { exactIntegers: true })).toBe(
        `Error: Invalid input for "t": /a ${problem}`,
      )
    },
  )
})

describe('a call', () => {
  it.each(['1e400', '-1e400', '[1,2e999]'])(
    'A tool call with %s is refused with the number',
    async (text) => {
      expect(await call({}, text)).toMatch(
        /^Error: Invalid input for "t": Numbers must be between ±1\.797\S+, got -?\de\d{3}$/,
      )
    },
  )

  it('A tool call shows a reviewer the digits, and its edit with digits as text is accepted', async () => {
    const requests: ApprovalRequest[] = []
    const tool = defineTool({
      name: 't',
      description: 'd',
      input: { type: 'object', properties: { id: { type: 'integer' } } },
      exactIntegers: true,
      requireApproval: true,
      execute: (input) => show(input),
    })
    const reviewer = {
      decide(request: ApprovalRequest) {
        requests.push(request)
        JSON.stringify(request)
        return Promise.resolve({ action: 'EDIT' as const, input: { id: '725653563933458433' } })
      },
    }
    const { result } = await runTool(
      tool,
      { id: 'a', name: 't', arguments: `{"id":${ID}}` },
      { reviewer },
    )
    expect(requests).toMatchObject([
      { input: { id: ID }, description: `Call tool: t\nInput: {"id":${ID}}` },
    ])
    expect(result.output).toBe('{"id":"725653563933458433n"}')
  })

  it('A tool call has another digest than a call with a neighboring integer', () => {
    expect(computeJsonDigest({ id: 9007199254740993n })).not.toBe(
      computeJsonDigest({ id: 9007199254740992n }),
    )
  })

  it('[CORE-J6] A tool call never changes a digit, for any integer in any position', async () => {
    const inner = {
      type: 'object',
      properties: {
        any: {},
        list: { type: 'array', items: { type: 'integer' } },
        union: {
          anyOf: [{ type: 'integer' }, { type: 'object', properties: { id: { type: 'integer' } } }],
        },
        map: { type: 'object', additionalProperties: { type: 'number' } },
      },
    }
    const tool = (exactIntegers: boolean): ReturnType<typeof defineTool> =>
      defineTool({
        name: 't',
        description: 'd',
        input: { ...inner, properties: { ...inner.properties, inner } },
        exactIntegers,
        execute: (input) => formatExactJson(input) ?? '',
      })
    const integer = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String)
    const value = fc
      .record({
        any: fc.oneof(
          integer,
          fc.array(integer).map((list) => `[${list.join()}]`),
        ),
        list: fc.array(integer).map((list) => `[${list.join()}]`),
        union: fc.oneof(
          integer,
          integer.map((id) => `{"id":${id}}`),
        ),
        map: integer.map((id) => `{"x":${id}}`),
      })
      .map((fields) =>
        Object.entries(fields)
          .map(([key, text]) => `"${key}":${text}`)
          .join(),
      )
    const exact = tool(true)
    const plain = tool(false)
    await fc.assert(
      fc.asyncProperty(value, value, async (outer, nested) => {
        const text = `{${outer},"inner":{${nested}}}`
        const run = async (one: typeof exact): Promise<string> =>
          toModelText((await runTool(one, { id: 'a', name: 't', arguments: text })).result)
        expect(await run(exact)).toBe(text)
        const answer = await run(plain)
        const digits = new Set(text.match(/-?\d+/g))
        // Refused or exact: no number is shown that the model did not write.
        const shown = answer.replaceAll(RANGE.split(', got')[0] ?? '', '').match(/-?\d{10,}/g) ?? []
        expect(shown.filter((each) => !digits.has(each))).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})
